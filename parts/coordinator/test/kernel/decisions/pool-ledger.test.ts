/** The most that one project may hold in a pool: who waits, who is told what, and what a restart or a kept worker changes. */
import { checkProperty } from "@resontech/house/check-property";
import fc from "fast-check";
import t from "tap";
import { expectedStarts } from "../../../src/kernel/decisions/expected-starts.ts";
import type { NodePool } from "../../../src/kernel/decisions/gate-facts.ts";
import { plan } from "../../../src/kernel/decisions/placement.ts";
import type {
  PlacementNode,
  PlacementWorker,
  WaitingGang,
} from "../../../src/kernel/decisions/placement-facts.ts";
import { PoolLedger, poolUseOf } from "../../../src/kernel/decisions/pool-ledger.ts";
import { whyNeverStarting } from "../../../src/kernel/decisions/why-never-starting.ts";
import { whyWaiting } from "../../../src/kernel/decisions/why-waiting.ts";

const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 11, 1, 12);

const gang = (job: string, change: Partial<WaitingGang> = {}): WaitingGang => ({
  ...{ job, isFurther: false, sequence: Number(job.replaceAll(/\D/g, "")), userId: "u" },
  ...{ project: "p", priority: 50, runsMs: null, size: 1, onlyMine: false },
  ...{ estimatedMemoryMb: null, hubBytes: 0, avoidNodes: [], agentProtocol: 1 },
  ...{ isReached: false, images: [{ needs: null }] },
  selection: { kind: "auto", gpuModels: null, maxPriceCents: null },
  ...change,
});
const POOL: NodePool = {
  ...{ id: "few", name: "few", kind: "shared", project: null, lends: false },
  ...{ mostRunMs: null, classes: null, projectWorkers: 2 },
};
const node = (id: string, pool: NodePool | null = POOL): PlacementNode => ({
  ...{ id, ownerId: null, isReady: true, isCordoned: false, hasDisk: true },
  ...{ freePorts: 10, gatewayPorts: 10, capacityBytes: 16e9, agentProtocol: 1 },
  ...(pool === null ? {} : { gate: { key: pool.id, at: NOW, pool, closures: [] } }),
});
const workersOf = (at: string, count: number): PlacementWorker[] =>
  Array.from({ length: count }, (_, n) => ({
    ...{ id: `${at}-${n}`, node: at, model: "cpu", memoryBytes: 8 * 1024 ** 3 },
    ...{ device: { kind: "cpu" }, isHealthy: true, isFree: true },
  }));
const running = (job: string, workers: string[], change = {}) => ({
  ...{ job, attempt: `${job}-a1`, project: "p", priority: 50, isPreemptible: true, workers },
  ...{ startedAt: NOW - HOUR, endsAt: null, committedAt: NOW - HOUR, preemptedAt: [], userId: "u" },
  ...change,
});
const why = (found: ReturnType<typeof plan>, job: string) =>
  found.waiting.find((one) => one.job === job)?.why;

t.test(
  "of one cycle a project gets no more than the pool allows, and others get theirs",
  async (t) => {
    const nodes = [node("a"), node("b")];
    const workers = [...workersOf("a", 3), ...workersOf("b", 3)];
    const gangs = [
      ...["j1", "j2", "j3"].map((job) => gang(job)),
      ...["j4", "j5", "j6"].map((job) => gang(job, { project: "q" })),
    ];
    const found = plan({ gangs, nodes, workers });
    t.same(
      found.placements.map(({ job }) => job),
      ["j1", "j2", "j4", "j5"],
    );
    t.equal(
      why(found, "j3"),
      "needs 1 worker; 0 of 6 would do now; excluded: 6 in a pool where a project has at most 2 workers",
    );
  },
);

t.test(
  "what a project holds there counts, also what lets go, and elsewhere it has room",
  async (t) => {
    const nodes = [node("a"), node("b", null)];
    const workers = [...workersOf("a", 3), ...workersOf("b", 1)].map((worker) => ({
      ...worker,
      isFree: worker.id !== "a-0",
    }));
    const poolUse = poolUseOf(nodes, workers, [running("r1", ["a-0"])]);
    t.same(poolUse, new Map([["few", new Map([["p", 1]])]]));
    const gangs = [gang("j1"), gang("j2"), gang("j3")];
    const found = plan({ gangs, nodes, workers, poolUse });
    t.same(found.placements.map(({ workers: ids }) => ids[0]!.slice(0, 1)).toSorted(), ["a", "b"]);
    t.match(why(found, "j3"), /1 busy, 3 in a pool where a project has at most 2 workers$/);
  },
);

t.test("where a job failed is left alone as long as a full pool could take it later", async (t) => {
  const nodes = [node("a", null), node("b")];
  const workers = [...workersOf("a", 1), ...workersOf("b", 3)];
  const use = (held: number) => new Map([["few", new Map([["p", held]])]]);
  const placedOn = (size: number, held: number) =>
    plan({
      ...{ gangs: [gang("j1", { size, hubBytes: 0, avoidNodes: ["a"] })], nodes, workers },
      poolUse: use(held),
    }).placements.map(({ home }) => home);
  t.same(placedOn(1, 1), ["b"]);
  t.same(placedOn(1, 2), [], "the pool is full now, and not for ever");
  const alone = plan({
    ...{ gangs: [gang("j1", { avoidNodes: ["a"] })], nodes: nodes.slice(0, 1) },
    workers: workersOf("a", 1),
  });
  t.equal(alone.placements[0]?.home, "a", "no other could ever take it");
});

t.test("a gang starts there wholly within the limit, or not at all", async (t) => {
  const nodes = [node("a"), node("b", null)];
  const workers = [...workersOf("a", 3), ...workersOf("b", 1)];
  const three = plan({ gangs: [gang("j1", { size: 3 })], nodes, workers });
  t.equal(three.placements.length, 0);
  t.match(why(three, "j1"), /1 of 4 would do now; excluded: 3 in a pool where a project/);
  t.match(
    whyNeverStarting({ nodes, workers }, gang("j1", { size: 3 })),
    /3 in a pool where a project has at most 2 workers/,
    "whoever could never start is told so",
  );
  t.equal(whyNeverStarting({ nodes, workers }, gang("j1", { size: 2 })), null);
});

t.test(
  "who waits for room of its own project starts once that ends, and is told of it",
  async (t) => {
    const nodes = [node("a")];
    const workers = workersOf("a", 3).map((worker) => ({ ...worker, isFree: worker.id === "a-2" }));
    const held = [
      running("r1", ["a-0"], { endsAt: NOW + HOUR }),
      running("r2", ["a-1"], { endsAt: NOW + 2 * HOUR }),
    ];
    const snapshot = {
      ...{ gangs: [gang("j1")], nodes, workers },
      poolUse: poolUseOf(nodes, workers, held),
    };
    const steps = expectedStarts(snapshot, held, NOW);
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    t.same(step.value.get("j1"), { at: NOW + HOUR });
    const told = whyWaiting(snapshot, { running: held, turns: ["j1"] }, "j1");
    t.match(told, {
      fitNow: 0,
      excluded: [{ why: "in a pool where a project has at most 2 workers", workers: 3 }],
    });
  },
);

t.test("a lost member's place is filled, whatever the limit says by now", async (t) => {
  const nodes = [node("a")];
  const workers = workersOf("a", 3).map((worker) => ({ ...worker, isFree: worker.id === "a-2" }));
  const poolUse = new Map([["few", new Map([["p", 2]])]]);
  const { size: _size, isReached: _reached, ...demand } = gang("j1");
  const vacancy = { ...demand, member: "m1", home: "a", hasPort: true };
  const found = plan({ gangs: [gang("j2")], vacancies: [vacancy], nodes, workers, poolUse });
  t.same(found.replacements, [{ job: "j1", member: "m1", workers: ["a-2"] }]);
});

t.test("workers that are kept for a gang leave no room for others of its project", async (t) => {
  const nodes = [node("a")];
  const workers = workersOf("a", 4).map((worker, at) => ({
    ...worker,
    keptFor: at < 2 ? "j9" : null,
  }));
  const gangs = [gang("j1"), gang("j9", { size: 2 })];
  const found = plan({ gangs, nodes, workers });
  t.same(
    found.placements.map(({ job }) => job),
    ["j9"],
    "else they would be kept for nothing",
  );
  t.match(why(found, "j1"), /at most 2 workers/);
});

t.test("a ledger without limits tells nobody apart", async (t) => {
  const ledger = new PoolLedger([node("a", { ...POOL, projectWorkers: null }), node("b", null)]);
  t.equal(ledger.classOf(gang("j1")), "");
  t.equal(ledger.roomsFor(gang("j1", { size: 50 })), "");
  t.equal(ledger.whyFull(gang("j1", { size: 50 }), "a"), null);
});

const PROJECTS = ["p", "q"] as const;
const asked = fc.record({
  project: fc.constantFrom(...PROJECTS),
  size: fc.integer({ min: 1, max: 3 }),
  priority: fc.constantFrom(10, 50, 100),
});
const held = fc.record({
  project: fc.constantFrom(...PROJECTS),
  priority: fc.constantFrom(10, 50),
  count: fc.integer({ min: 1, max: 2 }),
});

t.test("no plan takes a project over what a pool allows, whoever makes way in it", async () => {
  const cases = fc.record({
    limits: fc.tuple(...[1, 2].map(() => fc.option(fc.integer({ min: 1, max: 4 })))),
    owner: fc.option(fc.constantFrom(...PROJECTS)),
    gangs: fc.array(asked, { maxLength: 8 }),
    holders: fc.array(held, { maxLength: 4 }),
    guarantee: fc.option(fc.nat({ max: 4 })),
  });
  checkProperty(
    fc.property(cases, ({ limits, owner, gangs, holders, guarantee }) => {
      const pools = limits.map((projectWorkers, at): NodePool => {
        const own =
          at === 0 && owner !== null
            ? ({ kind: "managed", project: owner, lends: true } as const)
            : {};
        return { ...POOL, id: `pool-${at}`, projectWorkers, ...own };
      });
      const nodes = [...pools.map((pool, at) => node(`n${at}`, pool)), node("n2", null)];
      const all = nodes.flatMap(({ id }) => workersOf(id, 3));
      let next = 0;
      const running = holders.map(({ project, priority, count }, at) => ({
        ...{ job: `r${at}`, attempt: `r${at}-1`, project, priority, isPreemptible: true },
        workers: all.slice(next, (next += count)).map(({ id }) => id),
        ...{ startedAt: NOW - HOUR, endsAt: null, committedAt: NOW - HOUR, preemptedAt: [] },
        userId: "u",
      }));
      const taken = new Set(running.flatMap(({ workers }) => workers));
      const workers = all.map((worker) => ({ ...worker, isFree: !taken.has(worker.id) }));
      const found = plan({
        gangs: gangs.map((one, at) => gang(`j${at}`, one)),
        ...{ nodes, workers, poolUse: poolUseOf(nodes, workers, running) },
        backfill: { now: NOW, running },
        ...(guarantee === null
          ? {}
          : {
              sharing: {
                ...{ now: NOW, used: new Map(), running },
                shares: PROJECTS.map((id, at) => ({
                  ...{ id, parent: null, limit: {}, weight: 1 },
                  guarantee: { cpu: at === 0 ? guarantee : 0 },
                })),
              },
            }),
      });
      const projectOf = (job: string) => gangs[Number(job.slice(1))]!.project;
      const given = [...found.placements, ...found.preemptions];
      return pools.every(({ projectWorkers }, at) =>
        PROJECTS.every((project) => {
          const isThere = (worker: string) => worker.startsWith(`n${at}-`);
          const more = given
            .filter(({ job }) => projectOf(job) === project)
            .flatMap(({ workers: ids }) => ids.filter(isThere)).length;
          const before = running
            .filter((one) => one.project === project)
            .flatMap(({ workers: ids }) => ids.filter(isThere)).length;
          return more === 0 || before + more <= (projectWorkers ?? Infinity);
        }),
      );
    }),
    20_000,
  );
});
