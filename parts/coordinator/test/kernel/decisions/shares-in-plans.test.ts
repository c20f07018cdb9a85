/** What made histories of fleets found: each test is one that the plan got wrong. */
import t from "tap";
import type {
  PlacementNode,
  PlacementWorker,
  RunningGang,
  WaitingGang,
} from "../../../src/kernel/decisions/placement-facts.ts";
import type { NodePool } from "../../../src/kernel/decisions/gate-facts.ts";
import { plan, type Sharing, type Snapshot } from "../../../src/kernel/decisions/placement.ts";
import { CLASS_PRIORITIES } from "../../../src/kernel/decisions/priorities.ts";
import type { Share } from "../../../src/kernel/decisions/shares.ts";

const HOUR = 3_600_000;
const NOW = 1_000 * HOUR;
const CPUS: WaitingGang["selection"] = { kind: "auto", gpuModels: ["cpu"], maxPriceCents: null };
const HIGH = { priority: CLASS_PRIORITIES.interactive };

const gang = (job: string, project: string, change: Partial<WaitingGang> = {}): WaitingGang => ({
  ...{ job, project, sequence: Number(job.replace(/\D/g, "")), userId: "u", size: 1 },
  ...{ isFurther: false, priority: CLASS_PRIORITIES.train, onlyMine: false, runsMs: null },
  ...{ estimatedMemoryMb: null, hubBytes: null, avoidNodes: [], agentProtocol: 1 },
  ...{ images: null, isReached: false },
  selection: { kind: "auto", gpuModels: null, maxPriceCents: null },
  ...change,
});
/** Of `a1` to `b9` the letter is the node. */
const worker = (id: string, model = "cpu"): PlacementWorker => ({
  ...{ id, node: id.charAt(0), model, memoryBytes: 8e9, device: { kind: "cpu" } },
  ...{ isHealthy: true, isFree: true },
});
const node = (id: string, change: Partial<PlacementNode> = {}): PlacementNode => ({
  ...{ id, ownerId: null, isReady: true, isCordoned: false, hasDisk: true },
  ...{ freePorts: 9, gatewayPorts: 9, capacityBytes: 16e9, agentProtocol: 1 },
  ...change,
});
const share = (id: string, guarantee: Share["guarantee"], limit: Share["limit"] = {}): Share => ({
  ...{ id, parent: null, guarantee, limit, weight: 1 },
});
const runs = (
  job: string,
  project: string,
  workers: string[],
  change: Partial<RunningGang> = {},
): RunningGang => ({
  ...{ job, attempt: `${job}-a1`, project, priority: CLASS_PRIORITIES.train, workers },
  ...{
    isPreemptible: true,
    startedAt: NOW - HOUR,
    committedAt: NOW - HOUR,
    preemptedAt: [],
    userId: "u",
  },
  ...{ endsAt: null, ...change },
});
const planOf = (
  workers: PlacementWorker[],
  gangs: WaitingGang[],
  sharing: Pick<Sharing, "shares" | "running" | "leaving">,
  nodes: PlacementNode[] = [node("a"), node("b")],
): ReturnType<typeof plan> => {
  const held = new Set(
    [...sharing.running, ...(sharing.leaving ?? [])].flatMap((one) => one.workers),
  );
  const snapshot: Snapshot = {
    ...{ gangs, nodes },
    workers: workers.map((one) => ({ ...one, isFree: one.isFree && !held.has(one.id) })),
    sharing: { now: NOW, used: new Map(), ...sharing },
  };
  return plan(snapshot);
};
const gone = ({ preemptions }: ReturnType<typeof plan>) =>
  preemptions.map(({ job, reason, victims, workers }) => [
    ...[job, reason, victims.map((one) => one.job).join()],
    workers.join(),
  ]);

t.test("a limit on one model leaves the others to a job that takes any", async (t) => {
  const workers = [worker("a1", "cpu"), worker("b1", "l4")];
  const limited = [share("p", {}, { cpu: 0 })];
  const found = planOf(workers, [gang("j1", "p")], { shares: limited, running: [] });
  t.match(found.placements, [{ job: "j1", workers: ["b1"] }]);
  const busy = planOf(workers, [gang("j1", "p")], {
    ...{ shares: limited, running: [runs("j2", "q", ["b1"])] },
  });
  t.match(busy.waiting, [
    { why: "needs 1 worker; 0 of 2 would do now; excluded: 1 busy, 1 of other models" },
  ]);
  const both = planOf(workers, [gang("j1", "p")], {
    ...{ shares: [share("p", {}, { cpu: 0, l4: 0 })], running: [] },
  });
  t.match(both.waiting, [{ why: "its project may hold at most 0 workers of cpu" }]);
});

t.test("a guarantee of one model takes no worker of another", async (t) => {
  const workers = [worker("a1", "cpu"), worker("b1", "l4")];
  const running = [runs("j1", "lent", ["a1"]), runs("j2", "lent", ["b1"])];
  const asks = (guarantee: Share["guarantee"], change: Partial<RunningGang>[] = [{}, {}]) =>
    gone(
      planOf(workers, [gang("j9", "sure")], {
        shares: [share("sure", guarantee)],
        running: running.map((one, at) => ({ ...one, ...change[at] })),
      }),
    );
  t.same(asks({ cpu: 1 }), [["j9", "guarantee", "j1", "a1"]]);
  t.same(asks({ l4: 1 }), [["j9", "guarantee", "j2", "b1"]]);
  t.same(asks({ cpu: 1 }, [{ isPreemptible: false }, {}]), [], "the other is not its to take");
});

t.test("what a project has to give back is asked where it helps", async (t) => {
  // Two of four were lent. Who would go first lies alone on its node: with it nothing is left to ask of the other.
  const workers = ["a1", "a2", "a3", "b1", "b2"].map((id) => worker(id));
  const low = { priority: CLASS_PRIORITIES.scavenger };
  const running = [
    ...[runs("j1", "lent", ["a1", "a2"], low), runs("j2", "lent", ["b1"])],
    ...[runs("j3", "lent", ["b2"]), runs("j4", "other", ["a3"], { isPreemptible: false })],
  ];
  const shares = [share("sure", { cpu: 2 }), share("lent", { cpu: 2 })];
  const one = [gang("j9", "sure", { size: 2 })];
  t.same(gone(planOf(workers, one, { shares, running })), [["j9", "guarantee", "j1", "a1,a2"]]);
  const cordoned = [node("a", { isCordoned: true }), node("b")];
  t.same(gone(planOf(workers, one, { shares, running }, cordoned)), [
    ["j9", "guarantee", "j2,j3", "b1,b2"],
  ]);
  // Of one node's the lowest class alone is too little, and spends what may be asked.
  const uneven = [
    ...[runs("j1", "lent", ["b1"], low), runs("j2", "lent", ["a1", "a2"])],
    ...[runs("j3", "other", ["a3"], { isPreemptible: false })],
  ];
  t.same(
    gone(
      planOf(workers, one, { shares: [shares[0]!, share("lent", { cpu: 2 })], running: uneven }),
    ),
    [["j9", "guarantee", "j1", "b1,b2"]],
    "one is free beside it",
  );
  const narrow = ["a1", "a2", "a3", "b1"].map((id) => worker(id));
  t.same(
    gone(planOf(narrow, one, { shares: [shares[0]!, share("lent", { cpu: 2 })], running: uneven })),
    [["j9", "guarantee", "j2", "a1,a2"]],
  );
});

t.test("at its limit a project makes room among its own", async (t) => {
  const workers = ["a1", "a2", "a3"].map((id) => worker(id));
  const shares = [share("p", {}, { cpu: 2 })];
  const running = [runs("j1", "p", ["a1"]), runs("j2", "p", ["a2"], HIGH)];
  const asks = (change: Partial<WaitingGang>) =>
    gone(planOf(workers, [gang("j9", "p", change)], { shares, running }));
  t.same(asks(HIGH), [["j9", "class", "j1", "a1"]], "a worker is free, and the limit its own");
  t.same(asks({}), []);
  t.same(asks({ ...HIGH, size: 2 }), [], "with the one gone it would be over its limit still");
});

t.test("who makes way counts against limits until it is gone", async (t) => {
  const workers = ["a1", "a2", "a3"].map((id) => worker(id));
  const shares = [share("p", {}, { cpu: 1 })];
  const asks = (leaving: string[]) =>
    planOf(workers, [gang("j9", "p")], {
      ...{ shares, running: [] },
      leaving: leaving.length === 0 ? [] : [{ project: "p", userId: "u", workers: leaving }],
    }).placements.length;
  t.equal(asks(["a1"]), 0);
  t.equal(asks([]), 1);
  const lent = [share("sure", { cpu: 2 }), share("p", {}, { cpu: 2 })];
  const running = [runs("j1", "p", ["a1", "a2"])];
  const both = [gang("j8", "sure", { size: 2 }), gang("j9", "p")];
  const found = planOf(workers, both, { shares: lent, running });
  t.equal(found.preemptions.length, 1);
  t.same(found.placements, [], "of the same plan, too");
});

t.test("what is taken back counts as held before anybody has a turn", async (t) => {
  const kept = [{ ...worker("a1"), keptFor: "j1", isFree: false }, worker("a2"), worker("a3")];
  const shares = [share("p", { cpu: 1 }), share("sure", { cpu: 1 })];
  const running = [runs("j2", "p", ["a2"]), runs("j3", "other", ["a3"], { isPreemptible: false })];
  const gangs = [gang("j0", "sure"), gang("j1", "p")];
  t.same(gone(planOf(kept, gangs, { shares, running })), [["j0", "guarantee", "j2", "a2"]]);
});

t.test(
  "what was taken back for a job that starts elsewhere makes no other of its project a borrower",
  async (t) => {
    const workers = [
      { ...worker("a1"), keptFor: "j1", isFree: false },
      worker("a2"),
      worker("b1", "l4"),
    ];
    const shares = [share("p", { cpu: 1 }), share("sure", { cpu: 1 })];
    const failed = gang("j0", "sure", { avoidNodes: ["b"] });
    const found = planOf(workers, [failed, gang("j1", "p")], {
      ...{ shares, running: [runs("j2", "p", ["a2"])] },
    });
    t.match(found.placements, [{ job: "j1", workers: ["b1"] }]);
    t.same(gone(found), []);
  },
);

t.test(
  "what was taken back for a job that its project's limit keeps out is not on its way",
  async (t) => {
    const kept = (id: string, job: string, isFree: boolean) => ({
      ...{ ...worker(id), keptFor: job, isFree },
    });
    const workers = [
      ...[worker("a1"), kept("a2", "j7", true), kept("a3", "j7", false), kept("a4", "j9", false)],
    ];
    const shares = [share("p", { cpu: 3 }, { cpu: 3 }), share("sure", { cpu: 3 })];
    const gangs = [gang("j7", "p", { size: 2 }), gang("j9", "p", { priority: 100 })];
    const found = planOf(workers, [...gangs, gang("j12", "sure")], {
      ...{ shares, running: [runs("j8", "p", ["a1"], { priority: 100 })] },
    });
    t.match(
      found.waiting.find(({ job }) => job === "j9"),
      { why: /may hold at most 3 workers/ },
    );
    t.same(gone(found), []);
  },
);

t.test("who is guaranteed one model takes no other back once its pool is full", async (t) => {
  const pool: NodePool = {
    ...{ id: "few", name: "few", kind: "shared", project: null, lends: false, mostRunMs: null },
    ...{ classes: null, projectWorkers: 1 },
  };
  const nodes = [node("a", { gate: { pool, closures: [], key: "few", at: NOW } }), node("b")];
  const found = planOf(
    [worker("a1"), worker("a2"), worker("b1", "l4")],
    [gang("j1", "p"), gang("j2", "p")],
    { shares: [share("p", { cpu: 2 })], running: [runs("j9", "lent", ["b1"])] },
    nodes,
  );
  t.match(found.placements, [{ job: "j1", workers: [/^a/] }]);
  t.same(gone(found), []);
});

t.test("a job does not go back to where it failed because a pool is full for now", async (t) => {
  const pool: NodePool = {
    ...{ id: "few", name: "few", kind: "shared", project: null, lends: false, mostRunMs: null },
    ...{ classes: null, projectWorkers: 1 },
  };
  const nodes = [
    node("a", { gate: { pool, closures: [], key: "few", at: NOW } }),
    ...[node("b"), node("c")],
  ];
  const found = planOf(
    [worker("a1"), worker("a2"), worker("b1", "l4"), worker("c1", "h100")],
    [gang("j1", "p", { selection: CPUS }), gang("j2", "p", { avoidNodes: ["b"] })],
    { shares: [share("p", {}, { cpu: 1, h100: 0 })], running: [] },
    nodes,
  );
  t.match(found.placements, [{ job: "j1" }]);
  t.equal(found.placements.length, 1, "it waits for the pool");
});

t.test("nobody waits for a kept worker that no longer serves", async (t) => {
  const workers = [{ ...worker("a1"), keptFor: "j1", isFree: false }, worker("b1")];
  const sharing = { shares: [share("p", { cpu: 1 })], running: [runs("j2", "lent", ["b1"])] };
  const nodes = [node("a", { isReady: false }), node("b")];
  const found = planOf(workers, [gang("j1", "p")], sharing, nodes);
  t.same(gone(found), [["j1", "guarantee", "j2", "b1"]]);
});

t.test("a limit that no wait lifts does not keep a job from where it failed", async (t) => {
  const workers = [worker("a1", "cpu"), worker("b1", "l4")];
  const job = gang("j1", "p", { avoidNodes: ["a"] });
  const asks = (limit: number) =>
    planOf(workers, [job], {
      ...{ shares: [share("p", {}, { l4: limit })], running: [] },
    }).placements[0]?.workers;
  t.same(asks(1), ["b1"]);
  t.same(asks(0), ["a1"]);
});

t.test("a job that lies on one node is told so", async (t) => {
  const workers = [worker("a1"), worker("b1")];
  const unset = { shares: [], running: [] };
  t.match(planOf(workers, [gang("j1", "p", { size: 2 })], unset).waiting, [
    { why: "needs 2 workers; 2 of 2 would do now; they are on several nodes, and it lies on one" },
  ]);
});

t.test("nothing is reserved for a job where it would not go back to", async (t) => {
  const cpus: WaitingGang["selection"] = { kind: "auto", gpuModels: ["cpu"], maxPriceCents: null };
  const workers = [
    ...["a1", "a2"].map((id) => worker(id)),
    ...["b1", "b2", "b3"].map((id) => worker(id, "l4")),
  ];
  const running = [runs("j0", "p", ["b1"])];
  const failed = gang("j1", "p", { size: 2, avoidNodes: ["a"], waitingSince: NOW - HOUR });
  const found = plan({
    ...{ gangs: [failed, gang("j2", "p", { selection: cpus })], nodes: [node("a"), node("b")] },
    workers: workers.map((one) => ({ ...one, isFree: one.id !== "b1" })),
    sharing: { now: NOW, used: new Map(), shares: [share("p", {}, { l4: 2 })], running },
    backfill: { now: NOW, running },
  });
  t.match(found.placements, [{ job: "j2" }]);
});

t.test(
  "a job that makes way for nobody is given a model that its project is guaranteed",
  async (t) => {
    const workers = [worker("a1", "cpu"), worker("b1", "l4")];
    const found = planOf(workers, [gang("j1", "p", { isOnlyGuaranteed: true })], {
      ...{ shares: [share("p", { l4: 1 })], running: [] },
    });
    t.match(found.placements, [{ job: "j1", workers: ["b1"] }]);
  },
);

t.test("who is over a limit until others of its project are gone is on its way", async (t) => {
  const kept = ["a1", "a2"].map((id) => ({ ...worker(id), keptFor: "j1" }));
  const workers = [...kept, worker("a3"), worker("a4"), worker("a5")];
  const found = planOf(workers, [gang("j1", "p", { size: 2 }), gang("j9", "sure")], {
    shares: [share("p", { cpu: 1 }, { cpu: 3 }), share("sure", { cpu: 2 })],
    running: [runs("j2", "p", ["a3"]), runs("j3", "sure", ["a5"])],
    leaving: [{ project: "p", userId: "u", workers: ["a4"] }],
  });
  t.match(found.waiting, [{ job: "j1", why: /taken back/ }, { job: "j9" }]);
  t.same(gone(found), [["j9", "guarantee", "j2", "a3"]], "and counts as what its project holds");
  const over = planOf(workers, [gang("j1", "p", { size: 2 }), gang("j9", "sure")], {
    shares: [share("p", { cpu: 1 }, { cpu: 2 }), share("sure", { cpu: 2 })],
    running: [runs("j2", "p", ["a3"]), runs("j3", "sure", ["a5"])],
    leaving: [{ project: "p", userId: "u", workers: ["a4"] }],
  });
  t.same(gone(over), [], "one that its limit keeps out counts for nothing");
});
