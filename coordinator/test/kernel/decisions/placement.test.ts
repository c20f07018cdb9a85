import t from "tap";
import { type PlacementNode, type PlacementWorker, plan, type WaitingJob } from "../../../src/kernel/decisions/placement.ts";
import { clientResources, serverResources } from "../../../src/kernel/decisions/resources.ts";

const job = (id: string, change: Partial<WaitingJob> = {}): WaitingJob => ({
  ...{
    id,
    sequence: Number(id.replace(/\D/g, "")),
    userId: "u",
    shards: 2,
    onlyMine: false,
    estimatedMemoryMb: null,
    avoidNodes: [],
  },
  selection: { kind: "auto", gpuModels: null, maxPriceCents: null },
  ...change,
});
const node = (id: string, change: Partial<PlacementNode> = {}): PlacementNode => ({
  ...{ id, ownerId: null, isReady: true, isCordoned: false },
  ...change,
});
const workers = (node: string, count: number, change: Partial<PlacementWorker> = {}): PlacementWorker[] =>
  Array.from({ length: count }, (_, n) => ({
    ...{ id: `${node}-${n}`, node, model: "cpu", memoryBytes: 8 * 1024 ** 3, isHealthy: true, isFree: true },
    ...change,
  }));
const auto = (gpuModels: string[] | null, maxPriceCents: number | null = null) =>
  ({ kind: "auto", gpuModels, maxPriceCents }) as const;

t.test("a gang is placed wholly on one node, in order of arrival", async (t) => {
  const found = plan({
    jobs: [job("j2"), job("j1")],
    nodes: [node("a"), node("b")],
    workers: [...workers("a", 3), ...workers("b", 1)],
  });
  t.same(found.placements, [{ job: "j1", node: "a", workers: ["a-0", "a-1"] }]);
  t.same(
    found.waiting.map(({ job }) => job),
    ["j2"],
  );
  t.match(found.waiting[0]!.why, /needs 2 workers of one node; 2 of 4 would do now; excluded: 2 busy/);
});

t.test("the same snapshot in any order gives the same plan", async (t) => {
  const all = [...workers("a", 12), ...workers("b", 12)];
  const jobs = [job("j1"), job("j2", { shards: 11 }), job("j3")];
  const forward = plan({ jobs, nodes: [node("a"), node("b")], workers: all });
  t.same(plan({ jobs: jobs.toReversed(), nodes: [node("b"), node("a")], workers: all.toReversed() }), forward);
  t.same(forward.placements[0]!.workers, ["a-0", "a-1"]);
  t.same(forward.placements[1]!.workers.at(-1), "b-10");
});

t.test("models are an order of preference under the price ceiling", async (t) => {
  const fleet = [...workers("a", 2, { model: "rtx_4090" }), ...workers("b", 2, { model: "h100" })];
  const nodes = [node("a"), node("b")];
  const where = (selection: WaitingJob["selection"]) =>
    plan({ jobs: [job("j1", { selection })], nodes, workers: fleet }).placements[0]?.node;
  t.equal(where(auto(["h100", "rtx_4090"])), "b");
  t.equal(where(auto(["rtx_4090", "h100"])), "a");
  t.equal(where(auto(["h100", "rtx_4090"], 60)), "a", "h100 is above the ceiling");
  t.equal(where(auto(null)), "a", "the cheapest");
  t.equal(where(auto(["l4"])), undefined);
});

t.test("the first model is filled before the second is touched", async (t) => {
  const mixed = [...workers("a", 1, { model: "h100" }), { ...workers("a", 2, { model: "rtx_4090" })[1]! }];
  const found = plan({ jobs: [job("j1", { selection: auto(["rtx_4090", "h100"]) })], nodes: [node("a")], workers: mixed });
  t.same(found.placements[0]!.workers, ["a-1", "a-0"]);
});

t.test("pinned workers get the shards in the order they were named", async (t) => {
  const selection = { kind: "pinned", workerIds: ["a-2", "a-0"] } as const;
  const pinned = job("j1", { selection: { ...selection, workerIds: [...selection.workerIds] } });
  t.same(plan({ jobs: [pinned], nodes: [node("a")], workers: workers("a", 3) }).placements[0]!.workers, ["a-2", "a-0"]);
  const busy = workers("a", 3).map((worker) => ({ ...worker, isFree: worker.id !== "a-2" }));
  t.match(plan({ jobs: [pinned], nodes: [node("a")], workers: busy }).waiting[0]!.why, /1 busy, 1 not among the pinned workers/);
});

t.test("each filter says how many it excludes", async (t) => {
  const why = (change: Partial<WaitingJob>, at: Partial<PlacementNode> = {}, has: Partial<PlacementWorker> = {}) =>
    plan({ jobs: [job("j1", change)], nodes: [node("a", at)], workers: workers("a", 2, has) }).waiting[0]?.why;
  t.match(why({ estimatedMemoryMb: 9_000 }), /2 with too little memory/);
  t.match(why({}, { isReady: false }), /2 on nodes that do not answer/);
  t.match(why({}, { isCordoned: true }), /2 on cordoned nodes/);
  t.match(why({}, {}, { isHealthy: false }), /2 unhealthy or quarantined/);
  t.match(why({ onlyMine: true }, { ownerId: "other" }), /2 of other owners/);
  t.equal(why({ onlyMine: true }, { ownerId: "u" }), undefined);
  t.equal(why({ onlyMine: true }), undefined, "the appliance's own nodes are its organisation's");
  t.match(why({ selection: auto(["h100"]) }), /2 of other models/);
  t.match(why({ selection: auto(null, 1) }), /2 above the price ceiling/);
});

t.test("a node that failed the job is left alone while another could take it, and used when none could", async (t) => {
  const avoiding = job("j1", { avoidNodes: ["a"] });
  const both = { nodes: [node("a"), node("b")], workers: [...workers("a", 2), ...workers("b", 2)] };
  t.equal(plan({ jobs: [avoiding], ...both }).placements[0]!.node, "b");
  const busy = { ...both, workers: both.workers.map((worker) => ({ ...worker, isFree: worker.node === "a" })) };
  t.match(plan({ jobs: [avoiding], ...busy }).waiting[0]!.why, /2 on nodes where the job has failed/);
  t.equal(plan({ jobs: [avoiding], nodes: [node("a")], workers: workers("a", 2) }).placements[0]!.node, "a");
});

t.test("resources follow worker and node", async (t) => {
  const GIB = 1024 ** 3;
  const host = { cpuCores: 4, memoryBytes: 40 * GIB, workers: 2 };
  t.match(clientResources(host, 20 * GIB, 100), { cpuMillis: 2000, memoryBytes: 20 * GIB, diskBytes: 10 * GIB + 200 });
  t.match(clientResources(host, null, 0), { memoryBytes: 18 * GIB });
  t.match(serverResources(host, 0), { cpuMillis: 2000, memoryBytes: 8 * GIB });
  t.match(serverResources({ cpuCores: 1, memoryBytes: 2 * GIB, workers: 1 }, 0), { cpuMillis: 1000, memoryBytes: GIB });
});
