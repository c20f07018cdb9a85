/** Whoever needs several workers and waited long gets the next; others are let in before it only where that delays nobody. */
import t from "tap";
import type {
  PlacementNode,
  RunningGang,
  WaitingGang,
} from "../../../src/kernel/decisions/placement-facts.ts";
import { plan } from "../../../src/kernel/decisions/placement.ts";
import { reserveFor } from "../../../src/kernel/decisions/reservation.ts";

const MINUTE = 60_000;
const NOW = 1_000 * MINUTE;

const gang = (job: string, change: Partial<WaitingGang> = {}): WaitingGang => ({
  ...{ job, project: "p", sequence: Number(job.replace(/\D/g, "")), userId: "u", size: 1 },
  ...{ isFurther: false, priority: 50, onlyMine: false, estimatedMemoryMb: null, hubBytes: null },
  ...{ avoidNodes: [], agentProtocol: 1, isReached: false, images: [{ needs: null }] },
  ...{ runsMs: null, waitingSince: NOW },
  selection: { kind: "auto", gpuModels: null, maxPriceCents: null },
  ...change,
});
const long = { waitingSince: NOW - 15 * MINUTE };
const runs = (minutes: number) => ({ runsMs: minutes * MINUTE });
const holds = (job: string, workers: string[], minutes: number | null): RunningGang => ({
  ...{ job, attempt: job, project: "p", priority: 50, isPreemptible: true, userId: "u", workers },
  ...{ startedAt: 0, committedAt: 0, preemptedAt: [] },
  endsAt: minutes === null ? null : NOW + minutes * MINUTE,
});
const node: PlacementNode = {
  ...{ id: "a", ownerId: null, isReady: true, isCordoned: false, hasDisk: true },
  ...{ freePorts: 9, gatewayPorts: 9, capacityBytes: 16e9, agentProtocol: 1 },
};
const workersOf = (count: number, running: readonly RunningGang[]) => {
  const held = new Set(running.flatMap(({ workers }) => workers));
  return Array.from({ length: count }, (_, at) => ({
    ...{ id: `a-${at}`, node: "a", model: "cpu", memoryBytes: 8e9, isHealthy: true },
    ...{ device: { kind: "cpu" as const }, isFree: !held.has(`a-${at}`) },
  }));
};
const started = (count: number, running: RunningGang[], gangs: WaitingGang[]) => {
  const backfill = { now: NOW, running };
  return plan({ gangs, nodes: [node], workers: workersOf(count, running), backfill });
};
const jobs = (found: ReturnType<typeof plan>) => found.placements.map(({ job }) => job);

t.test("until it waited a quarter of an hour, whatever fits starts before it", async (t) => {
  const running = [holds("r1", ["a-0"], 10)];
  const small = [gang("j2", runs(60)), gang("j3")];
  t.same(jobs(started(2, running, [gang("j1", { size: 2 }), ...small])), ["j2"]);
  const found = started(2, running, [gang("j1", { size: 2, ...long }), ...small]);
  t.same(jobs(found), [], "then a free worker is kept");
  t.match(found.waiting, [
    { job: "j1", why: /reserved for it$/ },
    {
      job: "j2",
      why: /0 of 2 would do now; excluded: 1 busy, 1 reserved for a job that has waited/,
    },
    { job: "j3", why: /1 reserved for a job that has waited longer/ },
  ]);
});

t.test("whoever ends before it can start is let in, whoever states no end is not", async (t) => {
  const running = [holds("r1", ["a-0"], 10)];
  const head = gang("j1", { size: 2, ...long });
  t.same(jobs(started(2, running, [head, gang("j2"), gang("j3", runs(11))])), []);
  t.same(jobs(started(2, running, [head, gang("j2"), gang("j3", runs(10))])), ["j3"]);
  // A worker beyond those that it would get first is anybody's.
  t.same(
    jobs(
      started(4, [holds("r1", ["a-0", "a-1"], 10)], [gang("j1", { size: 3, ...long }), gang("j2")]),
    ),
    ["j2"],
  );
});

t.test(
  "of several that waited long the first has a place, and the next worker needs none",
  async (t) => {
    const running = [holds("r1", ["a-0", "a-1"], 10)];
    const heads = [gang("j1", { size: 3, ...long }), gang("j2", { size: 3, ...long })];
    const found = started(3, running, [...heads, gang("j3", { ...long })]);
    t.same(jobs(found), []);
    t.match(found.waiting[1]!.why, /^needs 3 workers; 0 of 3 would do now/);
    t.same(
      jobs(started(1, [], [gang("j1", { size: 2, ...long }), gang("j3", long)])),
      ["j3"],
      "it can never start",
    );
  },
);

t.test("where nobody states an end others are let in for an hour, and then no more", async (t) => {
  const running = [holds("r1", ["a-0"], null)];
  const at = (waited: number) =>
    jobs(
      started(2, running, [
        gang("j1", { size: 2, waitingSince: NOW - waited * MINUTE }),
        gang("j2", runs(30)),
      ]),
    );
  t.same([at(15), at(45), at(46)], [["j2"], ["j2"], []]);
});

t.test("the soonest workers are reserved, with those that are free already", async (t) => {
  const running = [holds("r1", ["a-0"], 30), holds("r2", ["a-1"], 10), holds("r3", ["a-2"], null)];
  const serving = workersOf(4, running);
  const reserved = (size: number) => {
    const found = reserveFor(serving, {
      ...{ running, now: NOW, waitingSince: NOW - 20 * MINUTE },
      choose: (workers) => (workers.length < size ? null : workers.slice(0, size)),
    });
    return found === null ? null : [[...found.workers].sort(), (found.until - NOW) / MINUTE];
  };
  t.same(reserved(2), [["a-1", "a-3"], 10]);
  t.same(reserved(3), [["a-0", "a-1", "a-3"], 30]);
  t.same(reserved(4), [["a-0", "a-1", "a-2", "a-3"], 55]);
  t.equal(reserved(5), null);
});
