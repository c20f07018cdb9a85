import t from "tap";
import { isWhole, type JobEnd } from "../faults/harms/harm.ts";

const END: JobEnd = {
  ...{ state: "FINISHED", attempt: 2, attempts: 2, resumedAt: 3, seconds: 41.5 },
  ...{ instances: [], doubles: [], overlaps: [], wrongModels: [] },
};

t.test("a job came through whole that is finished, in whatever attempt", async (t) => {
  t.ok(isWhole(END));
  t.ok(isWhole({ ...END, attempt: 1, attempts: 1, resumedAt: 0 }));
});

t.test(
  "a job that failed, had two members in one place or trained on a lost model did not",
  async (t) => {
    const others: Partial<JobEnd>[] = [
      { state: "FAILED" },
      { doubles: ["site-1: two at once"] },
      { overlaps: ["site-1: two at once"] },
      { wrongModels: ["site-1 in round 2 had 1"] },
    ];
    for (const other of others) t.notOk(isWhole({ ...END, ...other }), JSON.stringify(other));
  },
);
