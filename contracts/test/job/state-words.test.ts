import t from "tap";
import { JOB_STATES, MEMBER_STATES } from "../../src/job/job-states.ts";
import { JOB_WORDS, MEMBER_WORDS, readStates, STATE_GROUPS } from "../../src/job/state-words.ts";

t.test("every state has a word of its own, and stands in one group", async (t) => {
  t.equal(new Set(Object.values(JOB_WORDS)).size, JOB_STATES.length);
  t.equal(new Set(Object.values(MEMBER_WORDS)).size, MEMBER_STATES.length);
  t.same(Object.values(STATE_GROUPS).flat().toSorted(), JOB_STATES.toSorted());
});

t.test("states are asked for by name or by group, or left out", async (t) => {
  t.same(readStates("QUEUED,running"), [
    ...["QUEUED", "RUNNING", "PREEMPTING", "FINALIZING", "STOPPING"],
  ]);
  t.same(readStates("failed,-EXPIRED"), ["FAILED", "REJECTED"]);
  t.equal(readStates("-finished").length, JOB_STATES.length - 1);
  for (const wrong of ["BOGUS", "", "Running", "RUNNING,", "-", "runs,"])
    t.throws(() => readStates(wrong), { code: "unknown_state" }, wrong);
});
