import t from "tap";
import { startErrorsWords, startWords } from "../../src/jobs/start-words.ts";

t.test("how wrong told starts were is never told as less than it was", async (t) => {
  t.equal(startErrorsWords(null), null);
  t.equal(
    startErrorsWords({ jobs: 20, earlierSeconds: 119, laterSeconds: 121 }),
    "of the last 20 jobs 8 in 10 started at most 119 s before and 3 min after what was told",
  );
});

t.test("a start that is unsure is told as a range", async (t) => {
  const now = Date.UTC(2026, 0, 1);
  const at = (minutes: number) => new Date(now + minutes * 60_000).toISOString();
  const told = (expectedRange?: { from: string; until: string | null }) =>
    startWords(
      {
        ...{ expectedStart: at(30), noStart: null },
        ...(expectedRange === undefined ? {} : { expectedRange }),
      },
      now,
    );
  t.equal(told(), "in 30 min");
  t.equal(told({ from: at(10), until: at(150) }), "in 30 min (10 min to 2 h)");
  t.equal(told({ from: at(-1), until: null }), "in 30 min (0 s or far later)");
});
