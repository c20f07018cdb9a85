import type { JobPlacementReply, PlaceScore } from "@resontech/contracts/http-queue";
import t from "tap";
import { holderRows, placementFacts } from "../../src/jobs/placement-facts.ts";

const NOW = Date.parse("2026-11-30T12:00:00.000Z");
const LUNG = { id: "p_1", name: "lung" };
const WAIT: NonNullable<JobPlacementReply["wait"]> = {
  ...{ needs: 2, needsEach: 2, workers: 5, serving: 3, fitNow: 1, guarantee: "beyond" },
  excluded: [
    { why: "busy", workers: 2 },
    { why: "of other models", workers: 2 },
  ],
  limit: { share: "p_1", name: "lung", model: "cpu", limit: 3, held: 2, isAlone: false },
  ahead: [
    { project: LUNG, jobs: 1 },
    { project: null, jobs: 4 },
  ],
  holders: [],
  ...{ expectedStart: "2026-11-30T12:30:00.000Z", noStart: null },
};
const waits: JobPlacementReply = {
  ...{ id: "job-1", state: "QUEUED", waitingFor: "needs 2 workers", wait: WAIT, placed: null },
};

t.test("a job that waits is told by what binds, comes first and is left out", async (t) => {
  t.same(placementFacts(waits, NOW), [
    ["job", "job-1"],
    ["waits", "needs 2 workers"],
    ["starts", "in 30 min"],
    [
      "workers",
      "takes 2, 2 of one model on one node for each member; 3 of 5 would do when they are free",
    ],
    ["limit", "lung may hold at most 3 of cpu, and holds 2"],
    ["guarantee", "its project would borrow them"],
    ["before it", "1 job of lung"],
    ["", "4 jobs of another project"],
    ["left out", "2 busy"],
    ["", "2 of other models"],
  ]);
});

t.test("a job that holds workers is told where, and why there", async (t) => {
  const placed = {
    since: "2026-11-30T11:58:00.000Z",
    workers: [{ worker: "a-0", node: "a", model: "cpu" }],
    because: ["one node has room for all of it"],
  };
  const facts = [
    ["job", "job-1"],
    ["holds", "a-0, cpu on a"],
    ["since", "2 min ago"],
    ["why here", "one node has room for all of it"],
  ];
  const placedReply = { ...waits, waitingFor: null, wait: null };
  t.same(
    placementFacts({ ...placedReply, placed }, NOW),
    facts,
    "an older appliance tells no score",
  );
  const scores: PlaceScore[] = [
    {
      ...{ node: "a", model: "cpu", score: 0.735 },
      factors: [
        { factor: "uptime", value: 0.98 },
        { factor: "tier", value: null },
        { factor: "load", value: 0.75 },
      ],
    },
  ];
  t.same(placementFacts({ ...placedReply, placed: { ...placed, scores } }, NOW), [
    ...facts,
    ["score now", "cpu on a: 0.735 = uptime 0.98 × load 0.75; unknown, each counts 1: tier"],
  ]);
});

t.test("who holds workers is told with when it ends by itself", async (t) => {
  const since = "2026-11-30T11:00:00.000Z";
  const holder = { workers: { cpu: 2 }, since, isLeaving: false };
  t.same(
    holderRows(
      [
        { ...holder, jobClass: "train", project: LUNG, endsBy: "2026-11-30T12:10:00.000Z" },
        { ...holder, jobClass: null, project: null, endsBy: null },
        { ...holder, jobClass: "train", project: LUNG, endsBy: null, isLeaving: true },
      ],
      NOW,
    ),
    [
      ["lung", "train", "2 cpu", "1 h", "in 10 min at the latest"],
      ["another project", "", "2 cpu", "1 h", "states no end"],
      ["lung", "train", "2 cpu", "1 h", "lets go now"],
    ],
  );
});
