import t from "tap";
import { isTerminal, JOB_STATES, MEMBER_STATES } from "../../src/job/job-states.ts";
import { JOB_WORDS, MEMBER_WORDS, readStates, STATE_GROUPS } from "../../src/job/state-words.ts";

t.test("every state has one of eight words, and stands in one group", async (t) => {
  t.same(Object.keys(JOB_WORDS).toSorted(), JOB_STATES.toSorted());
  t.same(Object.keys(MEMBER_WORDS).toSorted(), MEMBER_STATES.toSorted());
  t.equal(new Set(Object.values(JOB_WORDS)).size, 8);
  t.same(Object.values(STATE_GROUPS).flat().toSorted(), JOB_STATES.toSorted());
});

t.test("no word of a job's end is that of a job that lives", async (t) => {
  const words = (isOver: boolean) =>
    JOB_STATES.filter((state) => isTerminal(state) === isOver).map((state) => JOB_WORDS[state]);
  const ends = new Set(words(true));
  t.same(
    words(false).filter((word) => ends.has(word)),
    [],
  );
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
