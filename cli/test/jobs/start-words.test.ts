import t from "tap";
import { startErrorsWords } from "../../src/jobs/start-words.ts";

t.test("how wrong told starts were is never told as less than it was", async (t) => {
  t.equal(startErrorsWords(null), null);
  t.equal(
    startErrorsWords({ jobs: 20, earlierSeconds: 119, laterSeconds: 121 }),
    "of the last 20 jobs 8 in 10 started at most 119 s before and 3 min after what was told",
  );
});
