import t from "tap";
import { UsageError } from "../../src/cli-error.ts";
import { readOrder } from "../../src/jobs/read-order.ts";

t.test("a job alone is waited for to succeed, with :ended to end", async (t) => {
  t.same(readOrder("job-1"), { job: "job-1", when: "succeeded" });
  t.same(readOrder("job-1:succeeded"), { job: "job-1", when: "succeeded" });
  t.same(readOrder("job-1:ended"), { job: "job-1", when: "ended" });
});

t.test("what names no job, or no way to end, is refused", async (t) => {
  for (const text of ["", ":ended", "job-1:", "job-1:failed", "job-1:ended:ended"])
    t.throws(() => readOrder(text), UsageError, text);
});
