import t from "tap";
import { scoreWords } from "../../src/job/score-words.ts";

t.test("a score is told with what made it, and what nobody knows by name", async (t) => {
  t.equal(
    scoreWords({
      score: 0.98 * 0.75,
      factors: [
        { factor: "uptime", value: 0.98 },
        { factor: "tier", value: null },
        { factor: "locality", value: null },
        { factor: "load", value: 0.75 },
      ],
    }),
    "0.735 = uptime 0.98 × load 0.75; unknown, each counts 1: tier, locality",
  );
  t.equal(
    scoreWords({ score: 1, factors: [{ factor: "uptime", value: null }] }),
    "1; unknown, each counts 1: uptime",
  );
  t.match(
    scoreWords({ score: 0.00001, factors: [{ factor: "price", value: 0.00001 }] }),
    /^0\.001 = price 0\.001$/,
    "no factor is 0",
  );
});
