import t from "tap";
import {
  type AwaitedJob,
  judgeOrder,
  mergeOrder,
} from "../../../src/kernel/decisions/job-order.ts";

const awaited = (job: string, change: Partial<AwaitedJob> = {}): AwaitedJob => ({
  ...{ job, name: `name of ${job}`, when: "succeeded", endedAs: null },
  ...change,
});

t.test("a job waits for all of those that are still to end, by name", async (t) => {
  t.same(judgeOrder([]), { kind: "free" });
  t.same(judgeOrder([awaited("job-1")]), {
    kind: "waits",
    why: "waits for job-1 (name of job-1) to succeed",
  });
  t.same(
    judgeOrder([
      awaited("job-1", { endedAs: "SUCCEEDED" }),
      awaited("job-2", { when: "ended" }),
      awaited("job-3"),
    ]),
    {
      kind: "waits",
      why: "waits for job-2 (name of job-2) to end and job-3 (name of job-3) to succeed",
    },
  );
});

t.test("of many jobs three are named, and the others counted", async (t) => {
  const many = (count: number) => Array.from({ length: count }, (_, at) => awaited(`j${at}`));
  t.match(judgeOrder(many(4)), { why: /^waits for j0 .*, j1 .*, j2 .* and 1 more job$/ });
  t.match(judgeOrder(many(16)), { why: /j2 \(name of j2\) to succeed and 13 more jobs$/ });
});

t.test("any end will do for whoever waits for an end alone", async (t) => {
  for (const endedAs of ["SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED", "gone"] as const)
    t.same(judgeOrder([awaited("job-1", { when: "ended", endedAs })]), { kind: "free" }, endedAs);
});

t.test("an end without success breaks the order, and says of whom", async (t) => {
  const words = {
    FAILED: "failed",
    CANCELLED: "was cancelled",
    EXPIRED: "ran out of its time",
    REJECTED: "was rejected",
    gone: "is no longer there",
  };
  for (const [endedAs, word] of Object.entries(words) as [keyof typeof words, string][])
    t.match(judgeOrder([awaited("job-0"), awaited("job-1", { endedAs })]), {
      kind: "broken",
      by: { job: "job-1" },
      message: `This job was to start after job-1 (name of job-1) had succeeded, and that one ${word}.`,
    });
});

t.test("of two wishes for one job the stricter holds", async (t) => {
  const strict = { job: "a", when: "succeeded" } as const;
  const loose = { job: "a", when: "ended" } as const;
  t.same(mergeOrder([loose, strict]), [strict]);
  t.same(mergeOrder([strict, loose, { ...loose, job: "b" }]), [strict, { ...loose, job: "b" }]);
});
