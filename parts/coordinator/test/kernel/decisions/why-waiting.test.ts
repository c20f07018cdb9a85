import t from "tap";
import type {
  PlacementNode,
  PlacementWorker,
  RunningGang,
  WaitingGang,
} from "../../../src/kernel/decisions/placement-facts.ts";
import { type Snapshot, turnsInSteps } from "../../../src/kernel/decisions/placement.ts";
import { resultOf } from "./result-of.ts";
import type { Share } from "../../../src/kernel/decisions/shares.ts";
import { whyHere } from "../../../src/kernel/decisions/why-here.ts";
import {
  limitingShares,
  limitPassedAlone,
  whyNeverStarting,
} from "../../../src/kernel/decisions/why-never-starting.ts";
import { whyWaiting } from "../../../src/kernel/decisions/why-waiting.ts";

const gang = (job: string, project: string, change: Partial<WaitingGang> = {}): WaitingGang => ({
  ...{ job, project, sequence: Number(job.replace(/\D/g, "")), userId: "u", size: 1 },
  ...{ isFurther: false, priority: 50, onlyMine: false, runsMs: null },
  ...{ estimatedMemoryMb: null, hubBytes: 0, avoidNodes: [], agentProtocol: 1, isReached: false },
  images: [{ needs: null }],
  selection: { kind: "auto", gpuModels: null, maxPriceCents: null },
  ...change,
});
const cpus: WaitingGang["selection"] = { kind: "auto", gpuModels: ["cpu"], maxPriceCents: null };
const node: PlacementNode = {
  ...{ id: "a", ownerId: null, isReady: true, isCordoned: false, hasDisk: true },
  ...{ freePorts: 9, gatewayPorts: 9, capacityBytes: 16e9, agentProtocol: 1 },
};
const worker = (id: string, model = "cpu", isFree = true): PlacementWorker => ({
  ...{ id, node: "a", model, memoryBytes: 8e9, device: { kind: "cpu" } },
  ...{ isHealthy: true, isFree },
});
const runs = (job: string, project: string, workers: string[]): RunningGang => ({
  ...{
    job,
    attempt: `${job}-a1`,
    project,
    priority: 50,
    isPreemptible: false,
    userId: "u",
    workers,
  },
  ...{ startedAt: 1, endsAt: 9, committedAt: 1, preemptedAt: [] },
});
const share = (id: string, change: Partial<Share> = {}): Share => ({
  ...{ id, parent: null, guarantee: {}, limit: {}, weight: 1 },
  ...change,
});
const snapshot = (
  gangs: WaitingGang[],
  workers: PlacementWorker[],
  running: RunningGang[],
  shares?: Share[],
): Snapshot => ({
  ...{ gangs, nodes: [node], workers },
  ...(shares === undefined ? {} : { sharing: { now: 5, shares, used: new Map(), running } }),
});

t.test("each filter is told with its workers, and who holds one that would do", async (t) => {
  const workers = [
    ...[worker("w1", "cpu", false), worker("w2", "cpu", false), worker("w3", "l4", false)],
    ...[worker("w4", "l4"), worker("w5", "cpu")],
  ];
  const running = [runs("j1", "a", ["w1", "w2"]), runs("j2", "b", ["w3"])];
  const of = (seen: Snapshot, job: string) =>
    whyWaiting(seen, { running, turns: resultOf(turnsInSteps(seen)) }, job);
  const waits = [gang("j3", "b", { selection: cpus, size: 2 }), gang("j4", "a", { size: 9 })];
  const why = of(snapshot(waits, workers, running), "j3");
  t.match(why, { needs: 2, workers: 5, serving: 3, fitNow: 1, limit: null, guarantee: "unset" });
  t.same(why?.excluded, [
    { why: "busy", workers: 2 },
    { why: "of other models", workers: 2 },
  ]);
  t.same(
    why?.holders.map(({ job }) => job),
    ["j1"],
  );
  t.same(why?.ahead, []);
  t.same(of(snapshot(waits, workers, running), "j4")?.ahead, ["j3"]);
  t.equal(of(snapshot(waits, workers, running), "j1"), null, "it runs");
});

t.test("the limit and the guarantee that bind are told", async (t) => {
  const workers = [worker("w1", "cpu", false), worker("w2"), worker("w3")];
  const running = [runs("j1", "a", ["w1"])];
  const told = (project: string, size: number, shares: Share[]) =>
    whyWaiting(
      snapshot([gang("j2", project, { size })], workers, running, shares),
      { running, turns: ["j2"] },
      "j2",
    );
  const limited = [share("a", { limit: { cpu: 1 } }), share("b", { guarantee: { cpu: 2 } })];
  t.same(told("a", 1, limited)?.limit, {
    ...{ share: "a", model: "cpu", limit: 1, held: 1, isAlone: false },
  });
  t.match(told("a", 2, limited)?.limit, { isAlone: true });
  t.match(told("b", 2, limited), { limit: null, guarantee: "within" });
  t.match(told("b", 3, limited), { limit: null, guarantee: "beyond" });
});

t.test("what no wait mends is told, busy workers are not", async (t) => {
  const fleet = { nodes: [node], workers: [worker("w1", "cpu", false), worker("w2", "l4")] };
  t.equal(whyNeverStarting(fleet, gang("j1", "a", { size: 2 })), null);
  t.match(
    whyNeverStarting(fleet, gang("j1", "a", { size: 2, selection: cpus })),
    /^needs 2 workers; 1 of 2 would do now; excluded: 1 of other models$/,
  );
  t.match(whyNeverStarting({ nodes: [], workers: [] }, gang("j1", "a")), /no node has joined/);
});

t.test("a job alone is over a limit where all that would do is limited to less", async (t) => {
  const fleet = { nodes: [node], workers: [worker("w1"), worker("w2"), worker("w3", "l4")] };
  const passed = (size: number, shares: Share[], selection: WaitingGang["selection"] = cpus) =>
    limitPassedAlone(
      ...([fleet, gang("j1", "a", { size, selection }), limitingShares(shares, "a")] as const),
    );
  const own = [share("a", { limit: { cpu: 1 } })];
  t.same(passed(2, own), { share: "a", model: "cpu", limit: 1 });
  t.equal(passed(1, own), null);
  const any = gang("j1", "a").selection;
  t.equal(passed(2, own, any), null, "another model has no limit");
  t.equal(passed(2, [share("a", { limit: { cpu: 1, l4: 1 } })], any), null, "one of each");
  const above = [share("team", { limit: { cpu: 1 } }), share("a", { parent: "team" })];
  t.same(passed(2, above), { share: "team", model: "cpu", limit: 1 });
  t.equal(limitPassedAlone({ nodes: [], workers: [] }, gang("j1", "a"), own), null);
});

t.test("why a job is where it is", async (t) => {
  const placed = [
    { worker: "w1", node: "a", model: "cpu" },
    { worker: "w2", node: "b", model: "cpu" },
  ];
  t.match(whyHere(cpus, placed), [/cpu is the first of the models/, /lies on 2 nodes/]);
  t.match(whyHere({ kind: "auto", gpuModels: null, maxPriceCents: null }, placed.slice(1)), [
    /cpu costs 5 cents an hour: price and nodes together were the best/,
    /one node has room/,
  ]);
  const free = [{ worker: "w3", node: "a", model: "own" }];
  t.match(whyHere({ kind: "auto", gpuModels: null, maxPriceCents: null }, free), [/costs nothing/]);
  t.match(whyHere({ kind: "pinned", workerIds: ["w1", "w2"] }, placed), [/names its workers/]);
});

t.test("turns go by shares, and those that need none stand where theirs would be", async (t) => {
  const workers = [worker("w1", "cpu", false)];
  const waits = ["j1", "j2", "j3", "j4"].map((job, at) => gang(job, at < 3 ? "a" : "b"));
  const shares = [share("a"), share("b", { guarantee: { cpu: 1 } })];
  const turns = (given: Snapshot) => resultOf(turnsInSteps(given));
  t.same(turns(snapshot(waits, workers, [])), ["j1", "j2", "j3", "j4"]);
  t.same(turns(snapshot(waits, workers, [], shares)), ["j4", "j1", "j2", "j3"]);
});
