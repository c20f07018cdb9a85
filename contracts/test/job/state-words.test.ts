import t from "tap";
import {
  isTerminal,
  JOB_STATES,
  MEMBER_STATES,
  WIRE_STATES,
  wireState,
} from "../../src/job/job-states.ts";
import {
  ALL_JOB_WORDS,
  JOB_WORDS,
  MEMBER_WORDS,
  queryWord,
  readAskedStates,
  readStates,
  statesOf,
} from "../../src/job/state-words.ts";

t.test("every state has one of nine words", async (t) => {
  t.same(Object.keys(JOB_WORDS).toSorted(), JOB_STATES.toSorted());
  t.same(Object.keys(MEMBER_WORDS).toSorted(), MEMBER_STATES.toSorted());
  t.equal(new Set(Object.values(JOB_WORDS)).size, 9);
  t.same(ALL_JOB_WORDS.toSorted(), [...new Set(Object.values(JOB_WORDS))].toSorted());
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

t.test("states are asked for by each word that people are shown, or left out", async (t) => {
  for (const read of [readStates, readAskedStates]) {
    for (const word of ALL_JOB_WORDS) {
      t.same(read(word), statesOf(word));
      t.same(read(queryWord(word)), statesOf(word), "without a blank");
    }
    t.same(read("failed,timed-out"), ["FAILED", "EXPIRED", "REJECTED"]);
    t.same(read("waiting,-waiting"), []);
    t.same(read("making-way"), ["PREEMPTING"], "who lets go does not wait yet");
    t.equal(read("-finished").length, JOB_STATES.length - 1);
  }
});

t.test("the API takes exact states, as its answers have them", async (t) => {
  for (const state of JOB_STATES) t.same(readStates(state), [state]);
  t.same(readStates("failed,-REJECTED"), ["FAILED"]);
});

t.test("a shell takes the four words of the client in the client's meaning", async (t) => {
  for (const wire of WIRE_STATES)
    t.same(
      readAskedStates(wire),
      JOB_STATES.filter((state) => wireState(state) === wire),
    );
  t.throws(() => readAskedStates("EXPIRED"), {
    message:
      'there is no state "EXPIRED": say waiting, starting, running, making-way, finishing, finished, failed, timed-out, cancelled, or QUEUED, RUNNING, FINISHED, FAILED',
  });
});

t.test("other words are refused", async (t) => {
  for (const read of [readStates, readAskedStates])
    for (const wrong of ["BOGUS", "", "Running", "RUNNING,", "-", "runs,", "toString"])
      t.throws(() => read(wrong), { code: "unknown_state" }, wrong);
});
