import t from "tap";
import type {
  PlacementNode,
  PlacementWorker,
  RunningGang,
  WaitingGang,
} from "../../../src/kernel/decisions/placement-facts.ts";
import { plan, type Snapshot } from "../../../src/kernel/decisions/placement.ts";
import { CLASS_PRIORITIES } from "../../../src/kernel/decisions/priorities.ts";
import type { Share } from "../../../src/kernel/decisions/shares.ts";

const MINUTE = 60_000;
const NOW = 1_000_000 * MINUTE;

const gang = (job: string, project: string, change: Partial<WaitingGang> = {}): WaitingGang => ({
  ...{ job, project, sequence: Number(job.replace(/\D/g, "")), userId: "u", size: 1 },
  ...{ isFurther: false, priority: CLASS_PRIORITIES.train, onlyMine: false, runsMs: null },
  ...{ estimatedMemoryMb: null, hubBytes: 0, avoidNodes: [], agentProtocol: 1, isReached: false },
  images: [{ needs: null }],
  selection: { kind: "auto", gpuModels: null, maxPriceCents: null },
  ...change,
});
const node: PlacementNode = {
  ...{ id: "a", ownerId: null, isReady: true, isCordoned: false, hasDisk: true },
  ...{ freePorts: 9, gatewayPorts: 9, capacityBytes: 16e9, agentProtocol: 1 },
};
const worker = (n: number, change: Partial<PlacementWorker> = {}): PlacementWorker => ({
  ...{ id: `a-${n}`, node: "a", model: "cpu", memoryBytes: 8e9, device: { kind: "cpu" } },
  ...{ isHealthy: true, isFree: true },
  ...change,
});
const share = (id: string, change: Partial<Share> = {}): Share => ({
  ...{ id, parent: null, guarantee: {}, limit: {}, weight: 1 },
  ...change,
});
const runs = (
  job: string,
  project: string,
  workers: readonly number[],
  change: Partial<RunningGang> = {},
): RunningGang => ({
  ...{ job, attempt: `${job}-a1`, project, priority: CLASS_PRIORITIES.train },
  ...{ isPreemptible: true, userId: "u", workers: workers.map((n) => `a-${n}`) },
  ...{ startedAt: NOW - 60 * MINUTE, committedAt: NOW - 60 * MINUTE, preemptedAt: [] },
  endsAt: null,
  ...change,
});
/** As many workers as the node has; those that run hold theirs. */
const fleet = (
  count: number,
  gangs: WaitingGang[],
  running: RunningGang[],
  shares: Share[],
  kept: Record<string, string> = {},
): Snapshot => {
  const held = new Set(running.flatMap(({ workers }) => workers));
  return {
    gangs,
    nodes: [node],
    workers: Array.from({ length: count }, (_, n) =>
      worker(n, { isFree: !held.has(`a-${n}`), keptFor: kept[`a-${n}`] ?? null }),
    ),
    sharing: { now: NOW, shares, used: new Map(), running },
  };
};
const victims = (snapshot: Snapshot) =>
  plan(snapshot).preemptions.map(({ job, reason, victims: gone }) => [
    job,
    reason,
    ...gone.map((one) => one.job),
  ]);

t.test("who borrowed makes way for whoever is guaranteed the workers", async (t) => {
  const shares = [share("a", { guarantee: { cpu: 1 } }), share("b", { guarantee: { cpu: 1 } })];
  const running = [runs("j1", "a", [0]), runs("j2", "a", [1], { startedAt: NOW - MINUTE })];
  const snapshot = fleet(2, [gang("j3", "b")], running, shares);
  t.same(victims(snapshot), [["j3", "guarantee", "j2"]], "of equals the newest");
});

t.test(
  "of borrowers goes the lowest class, then the largest borrower, then who loses least",
  async (t) => {
    const shares = [share("sure", { guarantee: { cpu: 4 } }), share("a"), share("b")];
    const asks = (running: RunningGang[]) =>
      victims(fleet(running.length, [gang("j9", "sure")], running, shares))[0]?.[2];
    const low = { priority: CLASS_PRIORITIES.scavenger };
    t.equal(asks([runs("j1", "a", [0]), runs("j2", "a", [1]), runs("j3", "b", [2], low)]), "j3");
    t.equal(asks([runs("j1", "b", [0]), runs("j2", "a", [1]), runs("j3", "a", [2])])?.[0], "j");
    t.not(asks([runs("j1", "b", [0]), runs("j2", "a", [1]), runs("j3", "a", [2])]), "j1");
    const committed = { committedAt: NOW - MINUTE };
    t.equal(asks([runs("j1", "a", [0]), runs("j2", "a", [1], committed)]), "j2");
    const newest = { startedAt: NOW - MINUTE, committedAt: NOW - MINUTE };
    t.equal(asks([runs("j1", "a", [0], newest), runs("j2", "a", [1], committed)]), "j1");
  },
);

t.test("nobody goes for less than the whole gang, and no more than it needs", async (t) => {
  const shares = [share("sure", { guarantee: { cpu: 3 } }), share("a")];
  const running = [runs("j1", "a", [0]), runs("j2", "a", [1, 2]), runs("j3", "a", [3])];
  const needs = (size: number) =>
    victims(fleet(4, [gang("j9", "sure", { size })], running, shares));
  t.same(needs(5), [], "it would not fit with all of them gone");
  t.same(needs(4), [], "more than it is guaranteed");
  t.equal(needs(3)[0]!.length, 4);
  t.same(needs(1)[0]!.length, 3, "one worker, one victim");
});

t.test("a project is not taken below what it is guaranteed itself", async (t) => {
  const shares = [share("sure", { guarantee: { cpu: 2 } }), share("a", { guarantee: { cpu: 2 } })];
  const running = [runs("j1", "a", [0]), runs("j2", "a", [1]), runs("j3", "a", [2])];
  const needs = (size: number) =>
    victims(fleet(3, [gang("j9", "sure", { size })], running, shares));
  t.equal(needs(1)[0]!.length, 3);
  t.same(needs(2), [], "one alone was lent");
});

t.test("over a guarantee nobody takes anything, and without shares nobody at all", async (t) => {
  const running = [runs("j1", "a", [0]), runs("j2", "a", [1])];
  const borrows = [gang("j9", "b")];
  t.same(victims(fleet(2, borrows, running, [share("a"), share("b")])), []);
  t.same(victims(fleet(2, borrows, running, [])), []);
  t.same(plan({ ...fleet(2, borrows, running, []), gangs: borrows }).preemptions, []);
});

t.test("a higher class takes a lower one's place in its own project alone", async (t) => {
  const high = { priority: CLASS_PRIORITIES.interactive };
  const shares = [share("a"), share("b")];
  const running = [runs("j1", "a", [0]), runs("j2", "b", [1])];
  t.same(victims(fleet(2, [gang("j9", "a", high)], running, shares)), [["j9", "class", "j1"]]);
  const peers = [runs("j1", "a", [0], high), runs("j2", "b", [1])];
  t.same(victims(fleet(2, [gang("j9", "a", high)], peers, shares)), []);
});

t.test("twice in six hours is enough, and some never go", async (t) => {
  const shares = [share("sure", { guarantee: { cpu: 1 } }), share("a")];
  const asks = (change: Partial<RunningGang>) =>
    victims(fleet(1, [gang("j9", "sure")], [runs("j1", "a", [0], change)], shares)).length;
  const hours = (count: number) => NOW - count * 60 * MINUTE;
  t.equal(asks({ preemptedAt: [hours(1), hours(2)] }), 0);
  t.equal(asks({ preemptedAt: [hours(1), hours(7)] }), 1);
  t.equal(asks({ isPreemptible: false }), 0);
});

t.test("what was taken back is kept for whom it was taken, and is not taken twice", async (t) => {
  const shares = [share("sure", { guarantee: { cpu: 2 } }), share("a")];
  const kept = { "a-0": "j8" };
  const still = fleet(2, [gang("j8", "sure")], [runs("j2", "a", [1])], shares, kept);
  const busy = {
    ...still,
    workers: still.workers.map((one) => ({ ...one, isFree: false })),
  };
  t.same(victims(busy), [], "its victim is still on its way out");
  t.match(plan(busy).waiting, [{ job: "j8", why: /taken back/ }]);
  const freed = plan({ ...still, gangs: [gang("j1", "a"), gang("j8", "sure")] });
  t.match(freed.placements, [{ job: "j8", workers: ["a-0"] }]);
  t.match(freed.waiting, [{ job: "j1" }]);
  const others = plan({ ...still, gangs: [gang("j1", "a")] });
  t.same(others.placements, []);
  t.match(others.waiting[0]!.why, /1 taken back for another job/);
});

t.test("projects take turns by what they hold, each in order of class and arrival", async (t) => {
  const shares = [share("a"), share("b"), share("c", { guarantee: { cpu: 1 } })];
  const high = { priority: CLASS_PRIORITIES.interactive };
  const waits = [
    ...[gang("j1", "a"), gang("j2", "a"), gang("j3", "a", high)],
    ...[gang("j4", "b"), gang("j5", "b"), gang("j6", "c")],
  ];
  const order = (gangs: WaitingGang[]) =>
    plan(fleet(6, gangs, [], shares)).placements.map(({ job }) => job);
  t.same(order(waits), ["j6", "j3", "j4", "j1", "j5", "j2"]);
  t.same(order(waits.toReversed()), order(waits));
});

t.test("a limit holds a job back, with its words, and lets a smaller one by", async (t) => {
  const shares = [share("a", { limit: { cpu: 2 } })];
  const waits = [gang("j1", "a", { size: 3 }), gang("j2", "a", { size: 2 })];
  const found = plan(fleet(4, waits, [], shares));
  t.match(found.placements, [{ job: "j2" }]);
  t.match(found.waiting, [{ job: "j1", why: "its project may hold at most 2 workers of cpu" }]);
  const team = [share("t", { limit: { cpu: 1 } }), share("a", { parent: "t" })];
  const [told] = plan(fleet(4, [gang("j1", "a", { size: 2 })], [], team)).waiting;
  t.equal(told!.why, "what stands above its project may hold at most 1 worker of cpu");
});
