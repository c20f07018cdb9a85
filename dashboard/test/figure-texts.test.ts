/** Figures of a deployment in words. */
import t from "tap";
import {
  errorsText,
  rateText,
  servingText,
  timeText,
  useText,
} from "../src/pages/inference/figure-texts.ts";

t.test("rates, times and shares are short, and what nobody knows is a dash", async (t) => {
  t.same([0, 0.123, 9.994, 42.4].map(rateText), ["0", "0.12", "9.99", "42"]);
  t.same([null, 12.4, 999, 1_250].map(timeText), ["–", "12 ms", "999 ms", "1.3 s"]);
  const device = (usePercent: number | null) => ({
    ...{ replica: "r", worker: "w", memoryBytes: 0, usePercent },
  });
  t.equal(useText([]), "–");
  t.equal(useText([device(null)]), "–");
  t.equal(useText([device(20), device(61), device(null)]), "41 %");
});

t.test("errors are named, the most first", async (t) => {
  t.equal(errorsText({}), "none");
  t.equal(errorsText({ "429": 1, client_gone: 3 }), "3 × client gone, 1 × 429");
});

t.test("a state has words", async (t) => {
  t.equal(servingText(null), "has not loaded yet");
  t.match(servingText("COLD"), /a call wakes it/);
  t.equal(servingText("SLEEPING", 812), "sleeps in its place; a call wakes it in about 812 ms");
  t.equal(servingText("WAKING", 4_200), "wakes in about 4.2 s");
});
