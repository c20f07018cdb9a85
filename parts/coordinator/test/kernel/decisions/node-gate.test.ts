/** Pools and calendar in the plan: who starts where, for how long, and who makes way for whom. */
import fc from "fast-check";
import t from "tap";
import { expectedStarts } from "../../../src/kernel/decisions/expected-starts.ts";
import type { Closure, NodeGate, NodePool } from "../../../src/kernel/decisions/gate-facts.ts";
import {
  gateOwner,
  STARTS_WITHIN_MS,
  UNSTATED_RUN_MS,
} from "../../../src/kernel/decisions/node-gate.ts";
import type {
  PlacementNode,
  PlacementWorker,
  RunningGang,
  WaitingGang,
} from "../../../src/kernel/decisions/placement-facts.ts";
import { plan } from "../../../src/kernel/decisions/placement.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOW = Date.UTC(2026, 11, 1, 12);

const gang = (job: string, change: Partial<WaitingGang> = {}): WaitingGang => ({
  ...{ job, isFurther: false, sequence: Number(job.replaceAll(/\D/g, "")), userId: "u" },
  ...{ project: "p", priority: 50, runsMs: null, size: 1, onlyMine: false },
  ...{ estimatedMemoryMb: null, hubBytes: 0, avoidNodes: [], agentProtocol: 1 },
  ...{ isReached: false, images: [{ needs: null }] },
  selection: { kind: "auto", gpuModels: null, maxPriceCents: null },
  ...change,
});
const pool = (id: string, change: Partial<NodePool> = {}): NodePool => ({
  ...{ id, name: id, kind: "managed", project: "own", lends: false },
  ...{ mostRunMs: null, classes: null },
  ...change,
});
const gate = (of: NodePool | null, closures: readonly Closure[] = []): NodeGate => ({
  ...{ key: JSON.stringify([of?.id, closures]), at: NOW, pool: of, closures },
});
const node = (id: string, of?: NodeGate): PlacementNode => ({
  ...{ id, ownerId: null, isReady: true, isCordoned: false, hasDisk: true },
  ...{ freePorts: 10, gatewayPorts: 10, capacityBytes: 16e9, agentProtocol: 1 },
  ...(of === undefined ? {} : { gate: of }),
});
const workersOf = (at: string, count: number, isFree = true): PlacementWorker[] =>
  Array.from({ length: count }, (_, n) => ({
    ...{ id: `${at}-${n}`, node: at, model: "cpu", memoryBytes: 8 * 1024 ** 3 },
    ...{ device: { kind: "cpu" }, isHealthy: true, isFree },
  }));
const running = (job: string, workers: string[], change: Partial<RunningGang> = {}) => ({
  ...{ job, attempt: `${job}-a1`, project: "p", priority: 50, isPreemptible: true, workers },
  ...{ startedAt: NOW - HOUR, endsAt: null, committedAt: NOW - HOUR, preemptedAt: [], userId: "u" },
  ...change,
});
const whyOf = (found: ReturnType<typeof plan>, job: string) =>
  found.waiting.find((one) => one.job === job)?.why;

t.test("what would run into maintenance does not start, and says until when", async (t) => {
  const from = NOW + 2 * HOUR;
  const closed = gate(null, [{ project: null, from, until: from + HOUR }]);
  const nodes = [node("a", closed)];
  const at = (one: WaitingGang) => plan({ gangs: [one], nodes, workers: workersOf("a", 1) });
  t.equal(at(gang("j1", { runsMs: HOUR })).placements.length, 1);
  t.equal(at(gang("j1", { runsMs: 2 * HOUR - STARTS_WITHIN_MS })).placements.length, 1);
  const late = at(gang("j1", { runsMs: 2 * HOUR - STARTS_WITHIN_MS + 1 }));
  t.equal(
    whyOf(late, "j1"),
    "needs 1 worker; 0 of 1 would do now; excluded: 1 needed for maintenance from 2026-12-01 14:00 UTC",
  );
  t.equal(at(gang("j1")).placements.length, 1, "who states nothing starts until an hour before");
  const soon = [node("a", { ...closed, at: from - UNSTATED_RUN_MS + 1 })];
  t.equal(
    plan({ gangs: [gang("j1")], nodes: soon, workers: workersOf("a", 1) }).placements.length,
    0,
  );
  const within = [node("a", { ...closed, at: from })];
  t.match(
    whyOf(
      plan({ gangs: [gang("j1", { runsMs: 1 })], nodes: within, workers: workersOf("a", 1) }),
      "j1",
    ),
    /1 in maintenance until 2026-12-01 15:00 UTC/,
  );
});

t.test("a reservation is for its project, and of others no name is told", async (t) => {
  const from = NOW + HOUR;
  const closures = [{ project: "own", from, until: from + HOUR }];
  const nodes = [node("a", gate(null, closures))];
  const workers = workersOf("a", 1);
  const own = plan({ gangs: [gang("j1", { project: "own" })], nodes, workers });
  t.equal(own.placements.length, 1);
  const other = plan({ gangs: [gang("j1", { runsMs: 2 * HOUR })], nodes, workers });
  t.match(whyOf(other, "j1"), /1 reserved for another project from 2026-12-01 13:00 UTC$/);
  t.notMatch(whyOf(other, "j1"), /own/);
  const within = [node("a", { ...nodes[0]!.gate!, at: from })];
  t.match(
    whyOf(plan({ gangs: [gang("j1", { runsMs: 1 })], nodes: within, workers }), "j1"),
    /1 reserved for another project until 2026-12-01 14:00 UTC$/,
  );
});

t.test("a pool's rules, and the pool that a job names", async (t) => {
  const nodes = [
    node("a", gate(pool("short", { kind: "shared", project: null, mostRunMs: HOUR }))),
    node("b", gate(pool("own"))),
    node("c"),
  ];
  const workers = ["a", "b", "c"].flatMap((id) => workersOf(id, 1));
  const homeOf = (change: Partial<WaitingGang>) => {
    const found = plan({ gangs: [gang("j1", change)], nodes, workers });
    return found.placements[0]?.home ?? whyOf(found, "j1");
  };
  t.equal(homeOf({ pool: "short", runsMs: HOUR }), "a");
  t.match(homeOf({ pool: "short" }), /1 in a pool for jobs with a time limit, 2 outside the pool/);
  t.match(
    homeOf({ pool: "short", runsMs: 2 * HOUR }),
    /1 in a pool for jobs of at most 60 minutes/,
  );
  t.equal(homeOf({}), "c");
  t.equal(homeOf({ project: "own", pool: "own" }), "b");
  t.match(homeOf({ pool: "own" }), /1 in a pool of another project, 2 outside the pool/);
  const ofClass = [
    node("a", gate(pool("s", { kind: "shared", project: null, classes: ["train"] }))),
  ];
  const at = (priority: number) =>
    plan({ gangs: [gang("j1", { priority })], nodes: ofClass, workers: workersOf("a", 1) });
  t.equal(at(50).placements.length, 1);
  t.match(whyOf(at(125), "j1"), /in a pool for other classes of jobs/);
});

t.test(
  "what is lent comes back at once, whoever made way how often, and only to its owner",
  async (t) => {
    const lent = gate(pool("own", { lends: true }));
    const nodes = [node("a", lent), node("b")];
    const workers = [...workersOf("a", 1, false), ...workersOf("b", 1, false)];
    const guest = running("guest", ["a-0"], { preemptedAt: [NOW - 1, NOW - 2] });
    const backfill = { now: NOW, running: [guest, running("other", ["b-0"])] };
    const at = (project: string) =>
      plan({
        gangs: [gang("j1", { project }), gang("j2", { project: "own" })],
        nodes,
        workers,
        backfill,
      });
    t.match(at("q").preemptions, [
      { job: "j2", reason: "guarantee", victims: [{ job: "guest" }], workers: ["a-0"] },
    ]);
    t.equal(at("own").preemptions.length, 1, "one guest makes way for one");
    t.match(at("own").preemptions, [{ job: "j1" }]);
    const staying = { now: NOW, running: [{ ...guest, isPreemptible: false }] };
    const found = plan({
      gangs: [gang("j2", { project: "own" })],
      nodes,
      workers,
      backfill: staying,
    });
    t.same(found.preemptions, []);
    const guests = (before?: number) =>
      plan({
        gangs: [gang("j1", before === undefined ? {} : { before })],
        ...{ nodes: [node("a", lent)], workers: workersOf("a", 1) },
      });
    t.equal(guests().placements.length, 1);
    t.match(
      whyOf(guests(0), "j1"),
      /1 in a pool of another project that lends to jobs which can make way/,
    );
  },
);

t.test("nodes of one's own have a queue by class, and nobody else's place changes", async (t) => {
  const nodes = [node("a", gate(pool("own", { kind: "private" }))), node("b")];
  const workers = [...workersOf("a", 1), ...workersOf("b", 1)];
  const own = (id: string, priority: number) => gang(id, { project: "own", priority, pool: "own" });
  const gangs = [gang("j1"), own("j2", 50), gang("j3", { priority: 125 }), own("j4", 100)];
  const found = plan({ gangs, nodes, workers });
  t.same(
    found.placements.map(({ job, home }) => [job, home]),
    [
      ["j1", "b"],
      ["j4", "a"],
    ],
  );
  const open = nodes.map(({ gate: _gate, ...rest }) => rest);
  const anybody = gangs.map(({ pool: _pool, ...rest }) => rest);
  t.same(
    plan({ gangs: anybody, nodes: open, workers }).placements.map(({ job }) => job),
    ["j1", "j2"],
    "without pools they come in order of arrival",
  );
});

t.test("who waits for the end of maintenance has a time", async (t) => {
  const until = NOW + HOUR;
  const nodes = [node("a", gate(null, [{ project: null, from: NOW - 1, until }]))];
  const snapshot = { gangs: [gang("j1")], nodes, workers: workersOf("a", 1) };
  const steps = expectedStarts(snapshot, [], NOW);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  t.same(step.value.get("j1"), { at: until });
});

const times = fc.integer({ min: -4, max: 12 }).map((halves) => NOW + halves * 30 * MINUTE);
const closureOf = fc
  .record({
    project: fc.constantFrom(null, "p", "own"),
    from: times,
    hours: fc.integer({ min: 1, max: 4 }),
  })
  .map(({ project, from, hours }) => ({ project, from, until: from + hours * HOUR }));
const poolOf = fc.constantFrom(
  null,
  pool("managed"),
  pool("lending", { lends: true }),
  pool("private", { kind: "private" }),
  pool("short", { kind: "shared", project: null, mostRunMs: HOUR }),
);
const gateOf = fc.record({ of: poolOf, closures: fc.array(closureOf, { maxLength: 3 }) });
const gangOf = fc.record({
  project: fc.constantFrom("p", "own", "q"),
  runsMs: fc.option(fc.integer({ min: 0, max: 6 }).map((halves) => halves * 30 * MINUTE)),
  size: fc.integer({ min: 1, max: 3 }),
});

t.test(
  "property: nothing starts that would run into a closure, no stranger where nothing is lent, and of equals each finds what it may",
  async () => {
    fc.assert(
      fc.property(
        fc.array(gateOf, { minLength: 1, maxLength: 4 }),
        fc.array(gangOf, { minLength: 1, maxLength: 8 }),
        (gates, wishes) => {
          const nodes = gates.map(({ of, closures }, at) => node(`n${at}`, gate(of, closures)));
          const workers = nodes.flatMap(({ id }) => workersOf(id, 2));
          const gangs = wishes.map((wish, at) => gang(`j${at}`, wish));
          const found = plan({ gangs, nodes, workers });
          const byJob = new Map(gangs.map((one) => [one.job, one]));
          for (const { job, workers: ids } of found.placements) {
            const { project, runsMs } = byJob.get(job)!;
            for (const id of ids) {
              const { pool: of, closures } = nodes.find((one) => id.startsWith(`${one.id}-`))!
                .gate!;
              if (of?.project != null && of.project !== project && !of.lends)
                throw new Error(`${job} of ${project} is in the pool ${of.id}`);
              for (const closure of closures) {
                if (closure.until <= NOW || closure.project === project) continue;
                if (closure.from <= NOW) throw new Error(`${job} starts in a closure`);
                if (runsMs !== null && NOW + runsMs > closure.from)
                  throw new Error(`${job} runs into a closure`);
                if (runsMs === null && closure.from - NOW < UNSTATED_RUN_MS)
                  throw new Error(`${job} states nothing, and a closure is near`);
              }
            }
          }
          // Who waits alone on what is left finds nothing, too: classes of gates hide nobody's turn.
          const taken = new Set(found.placements.flatMap((one) => one.workers));
          const left = workers.map((one) => ({ ...one, isFree: !taken.has(one.id) }));
          for (const { gang: one } of found.waiting)
            if (plan({ gangs: [one], nodes, workers: left }).placements.length > 0)
              throw new Error(`${one.job} waits for what is free`);
        },
      ),
      { numRuns: 400 },
    );
  },
);

t.test("property: only guests make way, and only for whoever owns what they hold", async () => {
  fc.assert(
    fc.property(
      fc.array(gateOf, { minLength: 1, maxLength: 4 }),
      fc.array(gangOf, { minLength: 1, maxLength: 6 }),
      fc.array(fc.record({ project: fc.constantFrom("p", "own", "q"), stays: fc.boolean() }), {
        ...{ minLength: 8, maxLength: 8 },
      }),
      (gates, wishes, held) => {
        const nodes = gates.map(({ of, closures }, at) => node(`n${at}`, gate(of, closures)));
        const workers = nodes.flatMap(({ id }) => workersOf(id, 2, false));
        const holders = workers.map((worker, at) =>
          running(`r${at}`, [worker.id], {
            project: held[at]!.project,
            isPreemptible: !held[at]!.stays,
          }),
        );
        const gangs = wishes.map((wish, at) => gang(`j${at}`, wish));
        const backfill = { now: NOW, running: holders };
        const asked = new Set<string>();
        for (const { job, victims } of plan({ gangs, nodes, workers, backfill }).preemptions) {
          const { project } = gangs.find((one) => one.job === job)!;
          for (const victim of victims) {
            const holder = holders.find((one) => one.job === victim.job)!;
            const at = nodes.find((one) => holder.workers[0]!.startsWith(`${one.id}-`))!;
            if (gateOwner(at.gate) !== project || holder.project === project)
              throw new Error(`${victim.job} makes way for ${job}`);
            if (!holder.isPreemptible) throw new Error(`${victim.job} is made to go`);
            if (asked.has(victim.job)) throw new Error(`${victim.job} is asked twice`);
            asked.add(victim.job);
          }
        }
      },
    ),
    { numRuns: 400 },
  );
});
