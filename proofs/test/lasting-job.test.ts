import t from "tap";
import { isUntouched } from "../lives/life/lasting-job.ts";

t.test("a job is untouched that goes on, or has ended well, in its first attempt", async (t) => {
  t.ok(isUntouched({ status: "RUNNING", attempt: 1 }, "RUNNING"));
  t.ok(isUntouched({ status: "FINISHED", attempt: 1 }, "FINISHED"));
});

t.test(
  "a job that ended beneath what was to leave it alone, failed or began again is not",
  async (t) => {
    t.notOk(isUntouched({ status: "FINISHED", attempt: 1 }, "RUNNING"));
    t.notOk(isUntouched({ status: "FAILED", attempt: 1 }, "FINISHED"));
    t.notOk(isUntouched({ status: "RUNNING", attempt: 2 }, "RUNNING"));
  },
);
