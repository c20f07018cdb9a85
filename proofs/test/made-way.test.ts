import t from "tap";
import { isAsItMust, type MadeWay } from "../lives/preemption/made-way.ts";

const AS_IT_MUST: MadeWay = {
  decisions: [{ asker: "job-b", reason: "guarantee", decidedAt: 1 }],
  ...{ lastRound: 3, beginnings: [0, 4], begunTwice: [], retriesSpent: 0 },
  said: {
    leaving:
      "It makes way for another project. It ends the round that runs first, and goes on later.",
    left: "It made way for another project. Nothing is lost but what came after round 3. Needs 2 workers.",
    queue: "1 reclaimed train In 2 min 3 s Needs 2 workers ada",
  },
  expectedStart: "2026-11-30T19:00:00.000Z",
};
const WHOM = { asker: "job-b", reason: "guarantee", whom: "another project" };

t.test("a job that made way once, said so and lost nothing is as it must be", async (t) => {
  t.equal(isAsItMust(AS_IT_MUST, WHOM), true);
});

t.test("whatever is otherwise fails", async (t) => {
  const [decision] = AS_IT_MUST.decisions;
  const otherwise: Record<string, Partial<MadeWay>> = {
    "nobody decided": { decisions: [] },
    "it made way twice": { decisions: [decision!, decision!] },
    "it made way for another job": { decisions: [{ ...decision!, asker: "job-c" }] },
    "it made way by another right": { decisions: [{ ...decision!, reason: "class" }] },
    "a round is trained again": { begunTwice: [3] },
    "it goes on in the round that was stored": { beginnings: [0, 3] },
    "it leaves a round out": { beginnings: [0, 5] },
    "it began a third time": { beginnings: [0, 4, 4] },
    "a retry is spent": { retriesSpent: 1 },
    "nobody expects it": { expectedStart: null },
    "the page told nothing while it let go": { said: { ...AS_IT_MUST.said, leaving: "" } },
    "the page tells another round": {
      said: { ...AS_IT_MUST.said, left: AS_IT_MUST.said.left.replace("round 3", "round 2") },
    },
    "the page names a stranger's project": {
      said: { ...AS_IT_MUST.said, left: AS_IT_MUST.said.left.replace("another", "cardio") },
    },
    "the queue knows no time": {
      said: { ...AS_IT_MUST.said, queue: "1 reclaimed train Unknown: a job before it" },
    },
  };
  for (const [what, change] of Object.entries(otherwise))
    t.equal(isAsItMust({ ...AS_IT_MUST, ...change }, WHOM), false, what);
});
