import t from "tap";
import { expectedStarts, type LatelyKnown } from "../../../src/kernel/decisions/expected-starts.ts";
import type {
  PlacementNode,
  RunningGang,
  WaitingGang,
} from "../../../src/kernel/decisions/placement-facts.ts";
import { resultOf } from "./result-of.ts";
import type { Snapshot } from "../../../src/kernel/decisions/placement.ts";
import type { Share } from "../../../src/kernel/decisions/shares.ts";

const MINUTE = 60_000;
const NOW = 1_000 * MINUTE;

const gang = (job: string, minutes: number | null, size = 1): WaitingGang => ({
  ...{ job, project: "p", sequence: Number(job.replace(/\D/g, "")), userId: "u", size },
  ...{ isFurther: false, priority: 50, onlyMine: false, estimatedMemoryMb: null, hubBytes: 0 },
  ...{ avoidNodes: [], agentProtocol: 1, isReached: false, images: [{ needs: null }] },
  runsMs: minutes === null ? null : minutes * MINUTE,
  selection: { kind: "auto", gpuModels: null, maxPriceCents: null },
});
const node: PlacementNode = {
  ...{ id: "a", ownerId: null, isReady: true, isCordoned: false, hasDisk: true },
  ...{ freePorts: 9, gatewayPorts: 9, capacityBytes: 16e9, agentProtocol: 1 },
};
const holds = (job: string, workers: number[], minutes: number | null): RunningGang => ({
  ...{ job, attempt: `${job}-a1`, project: "p", priority: 50, isPreemptible: true, userId: "u" },
  ...{ workers: workers.map((n) => `a-${n}`), startedAt: 0, committedAt: 0, preemptedAt: [] },
  endsAt: minutes === null ? null : NOW + minutes * MINUTE,
});
const on = (
  count: number,
  gangs: WaitingGang[],
  running: RunningGang[],
  lettingGo: readonly string[] = [],
  shares?: readonly Share[],
  lately: LatelyKnown | null = null,
) => {
  const held = new Set(running.flatMap(({ workers }) => workers));
  const snapshot: Snapshot = {
    ...{ gangs, nodes: [node] },
    workers: Array.from({ length: count }, (_, n) => ({
      ...{
        id: `a-${n}`,
        node: "a",
        model: "cpu",
        memoryBytes: 8e9,
        device: { kind: "cpu" as const },
      },
      ...{ isHealthy: true, isFree: !held.has(`a-${n}`) && !lettingGo.includes(`a-${n}`) },
    })),
    ...(shares === undefined ? {} : { sharing: { now: NOW, shares, used: new Map(), running } }),
  };
  return Object.fromEntries(
    [...resultOf(expectedStarts(snapshot, running, NOW, { lately }))].map(([job, start]) => [
      job,
      start.at === null ? start.why : (start.at - NOW) / MINUTE,
    ]),
  );
};

t.test("a gang starts when enough of those before it must have ended", async (t) => {
  const running = [holds("r1", [0], 10), holds("r2", [1], 25)];
  t.same(on(2, [gang("j1", 30), gang("j2", 5), gang("j3", 5, 2)], running), {
    ...{ j1: 10, j2: 25, j3: 40 },
  });
});

t.test("what fits now starts now, also past a larger one that waits", async (t) => {
  t.same(on(3, [gang("j1", 5, 3), gang("j2", 60)], [holds("r1", [0], 10)]), { j1: 60, j2: 0 });
});

t.test(
  "behind a job that states no end there is no time, and for what fits nowhere none at all",
  async (t) => {
    t.same(on(1, [gang("j1", 5)], [holds("r1", [0], null)]), { j1: "no-end-stated" });
    t.same(on(1, [gang("j1", 5), gang("j2", 5)], [holds("r1", [0], 10)]), { j1: 10, j2: 15 });
    t.same(on(1, [gang("j1", null), gang("j2", 5)], []), { j1: 0, j2: "no-end-stated" });
    t.same(on(1, [gang("j1", 5, 2)], [holds("r1", [0], 10)]), { j1: "never-fits" });
    t.same(on(1, [gang("j1", 5, 2)], [holds("r1", [0], null)]), { j1: "never-fits" });
    const many = Array.from({ length: 80 }, (_, n) => gang(`j${n + 1}`, 1));
    t.match(on(1, many, []), { j1: 0, j60: 59, j80: "far-off" });
  },
);

t.test(
  "workers of whoever lets go already are free in two minutes, whatever was stated",
  async (t) => {
    t.same(on(2, [gang("j1", 5)], [holds("r1", [0], null)], ["a-1"]), { j1: 2 });
  },
);

t.test("what alone is over a limit never starts; what waits for its limit does", async (t) => {
  const shares = [{ id: "p", parent: null, guarantee: {}, limit: { cpu: 1 }, weight: 1 }];
  const gangs = [gang("j1", 5, 2), gang("j2", 5)];
  t.same(on(3, gangs, [holds("r1", [0], 10)], [], shares), { j1: "never-fits", j2: 10 });
});

/** One of the size each two minutes of the last hour, each for so long. */
const lately = (size: number, minutes: number, part: number): LatelyKnown => ({
  since: NOW - 60 * MINUTE,
  came: Array.from({ length: 30 }, (_, n) => ({
    at: NOW - 60 * MINUTE + n * 2 * MINUTE,
    ...{ gang: gang(`past${n}`, minutes / part, size), ranMs: minutes * MINUTE },
  })),
  ended: Array.from({ length: 30 }, () => ({ project: "p", part })),
  madeWayMs: null,
});

t.test("who runs is expected to end as others ended, not when it must", async (t) => {
  const running = [{ ...holds("r1", [0], 50), startedAt: NOW - 50 * MINUTE }];
  const near = (told: unknown, minutes: number) => Math.abs(Number(told) - minutes) < 1.1;
  const stated = on(1, [gang("j1", 5)], running, [], undefined, lately(1, 1, 1));
  t.ok(near(stated["j1"], 50), "those that ended ran as long as they stated");
  const sooner = on(1, [gang("j1", 5)], running, [], undefined, lately(1, 1, 0.6));
  t.ok(near(sooner["j1"], 10), "three fifths of a hundred minutes, of which fifty are over");
});

t.test("a large gang is expected to wait for small ones that will come", async (t) => {
  const running = [holds("r1", [0], 4)];
  const alone = on(2, [gang("j1", 5, 2)], running);
  t.same(alone, { j1: 4 });
  const beside = on(2, [gang("j1", 5, 2)], running, [], undefined, lately(1, 6, 1));
  t.ok(Number(beside["j1"]) > 8, "each takes the worker that was free before the large one");
});

t.test("who makes way waits again, and so delays who comes after it", async (t) => {
  const shares = [{ id: "q", parent: null, guarantee: { cpu: 1 }, limit: {}, weight: 1 }];
  const known = lately(1, 1, 1);
  const past = known.came.map((one, n) =>
    n === 29 ? { ...one, gang: { ...one.gang, job: "r1", sequence: 1 } } : one,
  );
  const gangs = [{ ...gang("j1", 5), project: "q" }, gang("j9", 5)];
  const told = (came: LatelyKnown["came"]) =>
    on(1, gangs, [holds("r1", [0], 30)], [], shares, { ...known, since: NOW, came });
  t.same(told([]), { j1: 2, j9: 7 }, "of a job of which nobody knows what it asks for");
  t.same(told(past), { j1: 2, j9: 37 }, "it goes on for the thirty minutes that it has left");
});

t.test("the same facts tell the same, and a large fleet has one future", async (t) => {
  const running = [holds("r1", [0], 10)];
  const told = () => on(2, [gang("j1", 5, 2)], running, [], undefined, lately(1, 6, 0.7));
  t.same(told(), told());
  const large = on(3_000, [gang("j1", 5, 3_000)], running, [], undefined, lately(1, 6, 1));
  t.same(large, { j1: 10 });
});
