import t from "tap";
import { chooseResumePoint } from "../../../src/workloads/federation/resume-point.ts";

const job = { isResumable: true, firstRound: 0, numRounds: 5 };
const committed = (...rounds: number[]) =>
  rounds.map((round) => ({ round, modelUpload: `up-${round}` }));

t.test("the round after the newest committed one, whatever order they come in", async (t) => {
  t.same(chooseResumePoint(job, committed(1, 2)), {
    startRound: 3,
    roundsLeft: 2,
    modelUpload: "up-2",
  });
  t.same(chooseResumePoint(job, committed(2, 1)), {
    startRound: 3,
    roundsLeft: 2,
    modelUpload: "up-2",
  });
  t.same(chooseResumePoint({ ...job, firstRound: 10 }, committed(11)), {
    startRound: 12,
    roundsLeft: 3,
    modelUpload: "up-11",
  });
});

t.test("after the last round the one before it is taken: no workflow runs no round", async (t) => {
  t.same(chooseResumePoint(job, committed(4, 3)), {
    startRound: 4,
    roundsLeft: 1,
    modelUpload: "up-3",
  });
  t.equal(chooseResumePoint({ ...job, numRounds: 1 }, committed(0)), null);
});

t.test("from the beginning when nothing was committed, or nothing can be resumed", async (t) => {
  t.equal(chooseResumePoint(job, []), null);
  t.equal(chooseResumePoint({ ...job, isResumable: false }, committed(2)), null);
  t.equal(chooseResumePoint({ ...job, numRounds: null }, committed(2)), null);
});
