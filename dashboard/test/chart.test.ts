import t from "tap";
import { dashOf, HUES } from "../src/ui/chart/hues.ts";
import { rangesFor, spanOf, zoomByKey } from "../src/ui/chart/ranges.ts";
import {
  inUnit,
  rangeOf,
  stepsOf,
  tickText,
  timeTicks,
  WHOLE_STEPS,
} from "../src/ui/chart/units.ts";

t.test("a value is told in its unit, with no more digits than help", async (t) => {
  t.equal(inUnit("bytes", 1.5 * 1024 ** 3), "1.5 GiB");
  t.equal(inUnit("bytes/s", 12 * 1024 ** 2), "12.0 MiB/s");
  t.equal(inUnit("percent", 53.4), "53 %");
  t.equal(inUnit("watts", 309.6), "310 W");
  t.equal(inUnit("cores", 1), "1 core");
  t.equal(inUnit("cores", 2.6), "2.6 cores");
  t.equal(inUnit("cores", 0.494_21), "0.49 cores");
  t.equal(inUnit("number", 0.123456), "0.1235");
  t.equal(inUnit("number", 3.2e-7), "3.20e-7");
  t.equal(inUnit("number", 0), "0");
});

t.test("ticks of sizes are round in binary, and those of rounds are whole", async (t) => {
  t.equal(tickText("bytes", 8 * 1024 ** 3), "8 GiB");
  t.ok(stepsOf("bytes")?.includes(1024 ** 3));
  t.equal(stepsOf("watts"), undefined);
  t.ok(WHOLE_STEPS.every((step) => Number.isInteger(step) && step >= 1));
});

t.test("ticks of days are told as days, and those of minutes as minutes", async (t) => {
  t.match(timeTicks([0, 86_400])[0], /^\D+ \d+$|^\d+\D/);
  t.match(timeTicks([0, 300])[0], /^\d\d:\d\d$/);
  t.match(timeTicks([0, 10])[1], /^\d\d:\d\d:10$/);
});

t.test("a share begins at 0 and ends at 100, and a loss stands where it is", async (t) => {
  t.same(rangeOf("percent", 40, 60), [0, 100]);
  t.equal(rangeOf("bytes", 5, 10)[0], 0);
  t.same(rangeOf("cores", null, null), [0, 1.08]);
  const [least, most] = rangeOf("number", 0.5, 0.6);
  t.ok(least > 0.4 && least < 0.5 && most > 0.6);
  t.ok(rangeOf("number", 2, 2)[0] < 2, "a flat curve has room above and below");
});

t.test("a range is the last of the time that there is", async (t) => {
  const hour = 3_600_000;
  t.same(spanOf("1 h", 0, 5 * hour), { from: 4 * hour, to: 5 * hour });
  t.same(spanOf("24 h", 0, 5 * hour), { from: 0, to: 5 * hour });
  t.same(spanOf("All", 0, 5 * hour), { from: 0, to: 5 * hour });
  t.same(spanOf("All", 7, 7), { from: 7, to: 60_007 }, "what began just now has a minute");
  t.same(rangesFor(0, 2 * hour), ["15 min", "1 h", "All"]);
});

t.test("keys zoom, move within what there is, and show all again", async (t) => {
  const all = { min: 0, max: 100 };
  t.same(zoomByKey("+", all, all), { min: 25, max: 75 });
  t.same(zoomByKey("ArrowRight", { min: 25, max: 75 }, all), { min: 37.5, max: 87.5 });
  t.same(zoomByKey("ArrowRight", { min: 50, max: 100 }, all), { min: 50, max: 100 });
  t.same(zoomByKey("ArrowLeft", { min: 10, max: 60 }, all), { min: 0, max: 50 });
  t.equal(zoomByKey("-", { min: 25, max: 75 }, all), null);
  t.equal(zoomByKey("Escape", { min: 25, max: 75 }, all), null);
  t.equal(zoomByKey("a", all, all), undefined);
});

t.test("twenty-four curves differ in colour or dashes", async (t) => {
  const looks = Array.from({ length: 24 }, (_, at) => `${at % HUES} ${dashOf(at).join(" ")}`);
  t.equal(new Set(looks).size, 24);
});
