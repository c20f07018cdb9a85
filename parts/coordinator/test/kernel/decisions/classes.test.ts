import { checkProperty } from "@resontech/house/check-property";
import fc from "fast-check";
import t from "tap";
import { guaranteedGangs } from "../../../src/kernel/decisions/guaranteed-gangs.ts";
import { PersonLedger } from "../../../src/kernel/decisions/person-limits.ts";
import type {
  PlacementNode,
  PlacementWorker,
  RunningGang,
  WaitingGang,
} from "../../../src/kernel/decisions/placement-facts.ts";
import { type Plan, plan, type Snapshot } from "../../../src/kernel/decisions/placement.ts";
import { CLASS_PRIORITIES, classOf } from "../../../src/kernel/decisions/priorities.ts";
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
const worker = (n: number, isFree: boolean): PlacementWorker => ({
  ...{ id: `a-${n}`, node: "a", model: "cpu", memoryBytes: 8e9, device: { kind: "cpu" } },
  ...{ isHealthy: true, isFree },
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
  ...{ job, attempt: `${job}-a1`, project, userId: "u", priority: CLASS_PRIORITIES.train },
  ...{ isPreemptible: true, workers: workers.map((n) => `a-${n}`), endsAt: null },
  ...{ startedAt: NOW - 60 * MINUTE, committedAt: NOW - 60 * MINUTE, preemptedAt: [] },
  ...change,
});
const fleet = (
  count: number,
  gangs: WaitingGang[],
  running: RunningGang[] = [],
  shares: Share[] | null = null,
  persons: ReadonlyMap<string, string> = new Map(),
): Snapshot => {
  const held = new Set(running.flatMap(({ workers }) => workers));
  const workers = Array.from({ length: count }, (_, n) => worker(n, !held.has(`a-${n}`)));
  return {
    ...{ gangs, nodes: [node], workers },
    ...(shares === null
      ? {}
      : { sharing: { now: NOW, shares, used: new Map(), running, persons } }),
  };
};
const placed = ({ placements }: Plan) => placements.map(({ job }) => job);
const victimsOf = ({ preemptions }: Plan) =>
  preemptions.flatMap(({ victims }) => victims.map(({ job }) => job));
const SCAVENGES = { priority: CLASS_PRIORITIES.scavenger };
const STAYS = { isOnlyGuaranteed: true };

t.test("a class that this release does not know is that of the kind", async (t) => {
  t.equal(classOf("scavenger", "train"), "scavenger");
  t.equal(classOf("of-tomorrow", "train"), "train");
  t.equal(classOf("toString", "train"), "train");
  t.equal(classOf(null, "inference"), "inference");
});

t.test("a scavenger starts after all others, without shares too", async (t) => {
  const waits = [gang("j1", "a", SCAVENGES), gang("j2", "b"), gang("j3", "a")];
  t.same(placed(plan(fleet(2, waits))), ["j2", "j3"]);
  t.same(placed(plan(fleet(3, waits))), ["j2", "j3", "j1"]);
  const interactive = gang("j4", "a", { priority: CLASS_PRIORITIES.interactive });
  t.same(
    placed(plan(fleet(1, [...waits, interactive]))),
    ["j2"],
    "nobody passes other projects by a class",
  );
});

t.test("who makes way for nobody starts within a guarantee alone, and stays in it", async (t) => {
  const shares = [share("a", { guarantee: { cpu: 1 } }), share("b", { guarantee: { cpu: 1 } })];
  const waits = [gang("j1", "a", STAYS), gang("j2", "a", STAYS), gang("j3", "a")];
  const found = plan(fleet(3, waits, [], shares));
  t.same(placed(found), ["j1", "j3"]);
  t.match(found.waiting, [{ job: "j2", why: /makes way for nobody, so it waits for what/ }]);
  t.same(placed(plan(fleet(3, waits))), ["j1", "j2", "j3"], "nobody makes way without shares");

  const stays = { staysGuaranteed: true };
  const running = [runs("j1", "a", [0], stays), runs("j3", "a", [1])];
  t.same(victimsOf(plan(fleet(2, [gang("j9", "b")], running, shares))), ["j3"]);
  const high = gang("j9", "a", { priority: CLASS_PRIORITIES.system });
  t.same(victimsOf(plan(fleet(2, [high], running, shares))), ["j3"], "nor for a higher class");
  t.same(
    victimsOf(plan(fleet(1, [gang("j9", "b")], running.slice(0, 1), [shares[1]!]))),
    ["j1"],
    "with its guarantee it lost what kept it",
  );
});

t.test("of those that stay the oldest are within a guarantee, team by team", async (t) => {
  const stays = { staysGuaranteed: true };
  const shares = [
    share("t", { guarantee: { cpu: 2 } }),
    ...[share("a", { parent: "t" }), share("b", { parent: "t" })],
  ];
  const running = [
    runs("j1", "a", [0], { ...stays, startedAt: 3 }),
    runs("j2", "b", [1], { ...stays, startedAt: 1 }),
    runs("j3", "a", [2], { ...stays, startedAt: 2 }),
    runs("j4", "a", [3], { startedAt: 0 }),
  ];
  const workers = new Map(Array.from({ length: 4 }, (_, n) => [`a-${n}`, worker(n, false)]));
  const guaranteed = [...guaranteedGangs(running, shares, workers)].map(({ job }) => job);
  t.same(guaranteed.toSorted(), ["j2", "j3"]);
});

t.test("a person holds no more than any share on the way up lets one person have", async (t) => {
  const shares = [
    share("t", { personRunning: 3 }),
    share("a", { parent: "t", personRunning: 2 }),
    share("b", { parent: "t" }),
  ];
  const of = (userId: string, change: Partial<WaitingGang> = {}) => ({ userId, ...change });
  const waits = [
    ...[gang("j1", "a"), gang("j2", "a"), gang("j3", "a"), gang("j4", "b"), gang("j5", "b")],
    gang("j6", "a", of("v")),
  ];
  const found = plan(fleet(9, waits, [], shares));
  t.same(placed(found).toSorted(), ["j1", "j2", "j4", "j6"]);
  t.match(found.waiting, [
    { job: "j3", why: "its person may have at most 2 workers in the project" },
    { job: "j5", why: "its person may have at most 3 workers in what stands above the project" },
  ]);
  const programs = new Map([["program", "u"]]);
  const holds = [runs("j7", "a", [0, 1], { userId: "program" })];
  const behind = plan(fleet(9, waits.slice(0, 1), holds, shares, programs));
  t.match(
    behind.waiting,
    [{ job: "j1", why: /at most 2 workers/ }],
    "of the person's programs too",
  );
  t.same(
    victimsOf(
      plan(
        fleet(2, [gang("j8", "a")], holds, [
          share("a", { guarantee: { cpu: 2 }, personRunning: 1 }),
        ]),
      ),
    ),
    [],
    "nobody makes way for whom a limit holds back",
  );
});

t.test("whatever is held and let go, a person's count is that of what is held", async () => {
  const move = fc.record({
    isHold: fc.boolean(),
    project: fc.constantFrom("a", "b"),
    userId: fc.constantFrom("u", "v", "program"),
    workers: fc.integer({ min: 1, max: 4 }),
  });
  const programs = new Map([["program", "u"]]);
  checkProperty(
    fc.property(
      fc.array(move, { maxLength: 30 }),
      fc.integer({ min: 1, max: 6 }),
      (moves, limit) => {
        const ledger = new PersonLedger(
          [
            share("t", { personRunning: limit }),
            share("a", { parent: "t" }),
            share("b", { parent: "t" }),
          ],
          programs,
        );
        const held: typeof moves = [];
        for (const one of moves) {
          const at = held.findIndex(
            ({ userId, project }) => userId === one.userId && project === one.project,
          );
          if (one.isHold) {
            held.push(one);
            ledger.hold(one, one.workers);
          } else if (at >= 0) {
            const [gone] = held.splice(at, 1);
            ledger.release(gone!, gone!.workers);
          }
          for (const [userId, person] of [
            ["u", "u"],
            ["v", "v"],
            ["program", "u"],
          ] as const) {
            const has = held.reduce(
              (sum, { userId: of, workers }) =>
                sum + ((programs.get(of) ?? of) === person ? workers : 0),
              0,
            );
            const isOver = ledger.limitOver({ project: "a", userId }, 1) !== null;
            if (isOver !== has + 1 > limit) return false;
          }
        }
        return true;
      },
    ),
    4_000,
  );
});

t.test("whoever finds no free worker takes a sleeper's, and no other sleeper goes", async (t) => {
  const asleep = [0, 1, 2].map((n) => ({
    ...{ job: "d", attempt: `d-a${n}`, project: "a", userId: "u", workers: [`a-${n}`] },
  }));
  const running = asleep.map(({ attempt, workers }) =>
    runs("d", "a", [], { attempt, workers, isPreemptible: false }),
  );
  const unset = { ...fleet(4, [gang("j1", "b"), gang("j2", "b"), gang("j3", "b")], running) };
  const found = plan({ ...unset, sleepers: asleep });
  t.same(placed(found), ["j1"], "a free one first");
  t.match(found.preemptions, [
    { job: "j2", victims: [{ attempt: "d-a0", isAsleep: true }], workers: ["a-0"] },
    { job: "j3", victims: [{ attempt: "d-a1", isAsleep: true }], workers: ["a-1"] },
  ]);
  const shares = [share("a", { guarantee: { cpu: 4 } })];
  const one = fleet(3, [gang("j1", "b")], running, shares);
  t.same(victimsOf(plan({ ...one, sleepers: asleep })), ["d"], "whatever is guaranteed");
  const limited = fleet(3, [gang("j1", "b")], running, [share("b", { limit: { cpu: 0 } })]);
  t.same(victimsOf(plan({ ...limited, sleepers: asleep })), [], "but over no limit");
  const both = [runs("r0", "b", [0]), runs("r1", "b", [1])];
  const claims = [gang("j1", "b"), gang("j2", "a", { size: 2 })];
  const claimed = plan({
    ...fleet(2, claims, both, [share("a", { guarantee: { cpu: 2 } })]),
    sleepers: [{ job: "r1", attempt: "r1-a1", project: "b", userId: "u", workers: ["a-1"] }],
  });
  t.same(victimsOf(claimed), ["r0", "r1"], "one that a guarantee takes is no sleeper any more");
  const wide = fleet(3, [gang("j1", "b", { size: 4 })], running, shares);
  t.same(victimsOf(plan({ ...wide, sleepers: asleep })), [], "nor where it would not help");
});

t.test(
  "for a class alone nobody of the same class, or of another project, makes way, however short they ran",
  async () => {
    const classes = fc.constantFrom(...Object.values(CLASS_PRIORITIES));
    const projects = fc.constantFrom("a", "b", "c");
    const minutes = fc.integer({ min: 0, max: 30 });
    checkProperty(
      fc.property(
        fc.array(fc.record({ project: projects, priority: classes, minutes }), {
          minLength: 1,
          maxLength: 6,
        }),
        fc.array(
          fc.record({ project: projects, priority: classes, size: fc.integer({ min: 1, max: 2 }) }),
          { minLength: 1, maxLength: 5 },
        ),
        fc.integer({ min: 0, max: 3 }),
        (held, asking, guarantee) => {
          const running = held.map(({ project, priority, minutes: ran }, n) =>
            runs(`r${n}`, project, [n], { priority, startedAt: NOW - ran * MINUTE }),
          );
          const waits = asking.map((one, n) => gang(`j${n}`, one.project, one));
          const shares = [share("a", { guarantee: { cpu: guarantee } }), share("b"), share("c")];
          const { preemptions } = plan(fleet(held.length, waits, running, shares));
          return preemptions.every(({ job, reason, victims }) => {
            const asks = waits.find((one) => one.job === job)!;
            const gone = victims.map((victim) => running.find((one) => one.job === victim.job)!);
            return reason === "class"
              ? gone.every((one) => one.project === asks.project && one.priority < asks.priority)
              : gone.every((one) => one.project !== asks.project);
          });
        },
      ),
      4_000,
    );
  },
);

t.test(
  "whatever waits and runs, limits of persons hold, and who stays within a guarantee stays",
  async () => {
    const project = fc.constantFrom("a", "b", "c");
    const priority = fc.constantFrom(...Object.values(CLASS_PRIORITIES));
    const userId = fc.constantFrom("u", "v", "program");
    const held = fc.record({
      ...{ project, priority, userId, isAsleep: fc.boolean(), staysGuaranteed: fc.boolean() },
      startedAt: fc.integer({ min: 0, max: 5 }),
    });
    const asks = fc.record({
      ...{ project, priority, userId, size: fc.integer({ min: 1, max: 3 }) },
      isOnlyGuaranteed: fc.boolean(),
    });
    const limit = fc.option(fc.integer({ min: 1, max: 4 }));
    const programs = new Map([["program", "u"]]);
    const personOf = (user: string) => programs.get(user) ?? user;
    checkProperty(
      fc.property(
        ...([fc.array(held, { maxLength: 6 }), fc.array(asks, { maxLength: 6 })] as const),
        ...([fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 3 })] as const),
        ...([limit, limit, fc.integer({ min: 0, max: 3 })] as const),
        (holding, asking, sureOfA, sureOfB, limitOfTeam, limitOfA, free) => {
          const running = holding.map(({ isAsleep: _isAsleep, ...one }, n) =>
            runs(`r${n}`, one.project, [n], one),
          );
          const sleepers = running.filter((_, n) => holding[n]!.isAsleep);
          const shares = [
            share("t", { personRunning: limitOfTeam }),
            share("a", { parent: "t", guarantee: { cpu: sureOfA }, personRunning: limitOfA }),
            share("b", { parent: "t", guarantee: { cpu: sureOfB } }),
            share("c"),
          ];
          const waits = asking.map((one, n) => gang(`j${n}`, one.project, one));
          const snapshot = {
            ...fleet(running.length + free, waits, running, shares, programs),
            sleepers,
          };
          const found = plan(snapshot);
          const given = [...found.placements, ...found.preemptions];
          const workers = given.flatMap((one) => one.workers);
          const gone = found.preemptions.flatMap(({ victims }) => victims);
          const isGone = ({ attempt }: RunningGang) => gone.some((one) => one.attempt === attempt);
          const all = new Map(snapshot.workers.map((one) => [one.id, one]));
          const stays = guaranteedGangs(running, shares, all);
          const has = (person: string, projects: readonly string[]) => {
            const counted = (of: { project: string; userId: string }) =>
              projects.includes(of.project) && personOf(of.userId) === person;
            const kept = running.filter((one) => !isGone(one) && counted(one)).length;
            const won = given.reduce((sum, { job, workers: ids }) => {
              const asked = waits.find((one) => one.job === job)!;
              return sum + (counted(asked) ? ids.length : 0);
            }, 0);
            return { all: kept + won, won };
          };
          const isWithin = (person: string, projects: readonly string[], most: number | null) => {
            const { all: total, won } = has(person, projects);
            // What ran before the limit goes on.
            return most === null || won === 0 || total <= most;
          };
          return (
            new Set(workers).size === workers.length &&
            new Set(gone.map(({ attempt }) => attempt)).size === gone.length &&
            gone.every(({ attempt, isAsleep }) => {
              const victim = running.find((one) => one.attempt === attempt)!;
              return isAsleep === true ? sleepers.includes(victim) : !stays.has(victim);
            }) &&
            ["u", "v"].every(
              (person) =>
                isWithin(person, ["a", "b"], limitOfTeam) && isWithin(person, ["a"], limitOfA),
            )
          );
        },
      ),
      4_000,
    );
  },
);
