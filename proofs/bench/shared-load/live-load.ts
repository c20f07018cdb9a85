/** The made hour in pretended time: after each arrival and each end the plan is made and done, as the scheduler does. */
import { averageHeld, type Holding } from "@resontech/coordinator/decayed-use";
import {
  type ExpectedStart,
  expectedStarts,
  type LatelyKnown,
} from "@resontech/coordinator/expected-starts";
import { plan, type Snapshot } from "@resontech/coordinator/placement";
import type {
  PlacementNode,
  PlacementWorker,
  RunningGang,
  WaitingGang,
} from "@resontech/coordinator/placement-facts";
import { FLEET, HOUR, type MadeJob, SHARES } from "./made-load.ts";

const GIB = 1024 ** 3;
const RESERVED_AFTER_MS = 15 * 60_000;

/** @property waitMs until it ran first; null: not within the hour @property told once it waited, what was expected then */
export type Served = { job: MadeJob; waitMs: number | null; told: ExpectedStart | null };
export type Life = { served: Served[]; holdings: Holding[]; preemptions: number };

type Came = LatelyKnown["came"][number];
type Running = RunningGang & { endsForReal: number };

/** @param by shares, or in order of arrival @param isAsked whether each job that waits is told when it is expected to start */
export function liveThrough(
  jobs: readonly MadeJob[],
  { by, isAsked }: { by: "shares" | "arrival"; isAsked: boolean },
): Life {
  const nodes = Array.from(
    { length: FLEET.nodes },
    (_, at): PlacementNode => ({
      ...{ id: `node-${at}`, ownerId: null, isReady: true, isCordoned: false, hasDisk: true },
      ...{ freePorts: 8, gatewayPorts: 8, capacityBytes: 512 * GIB, agentProtocol: 99 },
    }),
  );
  const workers = nodes.flatMap(({ id }) =>
    Array.from(
      { length: FLEET.devices },
      (_, at): PlacementWorker => ({
        ...{ id: `${id}-${at}`, node: id, model: FLEET.model, memoryBytes: 80 * GIB },
        device: { kind: "gpu", vendor: "nvidia", architecture: "9.0", driver: "570.1" },
        ...{ isHealthy: true, isFree: true },
      }),
    ),
  );
  const served = new Map<string, Served>();
  const waiting = new Map<string, WaitingGang>();
  const left = new Map<string, number>();
  const preemptedAt = new Map<string, number[]>();
  const holdings: Holding[] = [];
  // As the coordinator knows of the jobs that came and ended: what comes later it does not know.
  const came: Came[] = [];
  const ended: LatelyKnown["ended"][number][] = [];
  let running: Running[] = [];
  let preemptions = 0;
  const made = new Map(jobs.map((job) => [job.job, job]));

  const snapshotAt = (now: number): Snapshot => {
    const held = new Set(running.flatMap((gang) => gang.workers));
    const gangs = [...waiting.values()];
    const isLong = gangs.some(
      ({ size, waitingSince }) => size > 1 && now - waitingSince! >= RESERVED_AFTER_MS,
    );
    return {
      ...{ gangs, nodes },
      workers: workers.map((one) => (held.has(one.id) ? { ...one, isFree: false } : one)),
      ...(by === "shares"
        ? { sharing: { now, shares: SHARES, used: averageHeld(holdings, now), running } }
        : {}),
      ...(isLong ? { backfill: { now, running } } : {}),
    };
  };
  const begin = (job: string, ids: readonly string[], now: number) => {
    waiting.delete(job);
    const one = served.get(job)!;
    one.waitMs ??= now - one.job.at;
    const { project, runsMs, statedMs } = one.job;
    const restMs = left.get(job) ?? runsMs;
    running.push({
      ...{ job, attempt: `${job}-${now}`, project, userId: "u", priority: 50 },
      isPreemptible: true,
      ...{ workers: ids, startedAt: now, committedAt: now },
      ...{ preemptedAt: preemptedAt.get(job) ?? [], endsForReal: now + restMs },
      endsAt: now + statedMs - (runsMs - restMs),
    });
    for (const _ of ids) holdings.push({ project, model: FLEET.model, from: now, until: null });
  };
  const end = (gang: Running, now: number) => {
    running = running.filter((one) => one !== gang);
    const open = holdings.filter(
      ({ project, until, from }) =>
        project === gang.project && until === null && from === gang.startedAt,
    );
    for (const holding of open.slice(0, gang.workers.length)) holding.until = now;
  };
  const settle = (now: number) => {
    for (;;) {
      const { placements, preemptions: decided } = plan(snapshotAt(now));
      for (const { job, workers: ids } of placements) begin(job, ids, now);
      for (const { victims } of decided)
        for (const { job } of victims) {
          const gang = running.find((one) => one.job === job)!;
          preemptions += 1;
          // It commits, and goes on from there.
          left.set(job, gang.endsForReal - now);
          preemptedAt.set(job, [...gang.preemptedAt, now]);
          end(gang, now);
          waiting.set(job, gangOf(made.get(job)!, now, left.get(job)!));
        }
      if (placements.length + decided.length === 0) return;
    }
  };
  const arrivals = [...jobs];
  for (;;) {
    const nextEnd = Math.min(...running.map(({ endsForReal }) => endsForReal));
    const now = Math.min(nextEnd, arrivals[0]?.at ?? Infinity);
    if (now > HOUR) break;
    for (const gang of running.filter(({ endsForReal }) => endsForReal <= now)) {
      end(gang, now);
      const { project, runsMs, statedMs } = made.get(gang.job)!;
      ended.unshift({ project, part: runsMs / statedMs });
      came.find((one) => one.gang.job === gang.job)!.ranMs = runsMs;
    }
    const next = arrivals[0]?.at === now ? arrivals.shift()! : null;
    if (next !== null) {
      const gang = gangOf(next, now, next.runsMs);
      served.set(next.job, { job: next, waitMs: null, told: null });
      waiting.set(next.job, gang);
      came.push({ at: now, gang, ranMs: null });
    }
    settle(now);
    if (isAsked && next !== null && waiting.has(next.job)) {
      const lately = { since: 0, came, ended, madeWayMs: 0 };
      served.get(next.job)!.told = expectationOf(snapshotAt(now), {
        ...{ running, now, lately, job: next.job },
      });
    }
  }
  return { served: [...served.values()], holdings, preemptions };
}

function gangOf(
  { job, project, size, isSpread, runsMs, statedMs }: MadeJob,
  now: number,
  leftMs: number,
): WaitingGang {
  return {
    ...{ job, sequence: Number(job.slice(4)), isFurther: false, userId: "u", project },
    ...{ priority: 50, size, onlyMine: false, estimatedMemoryMb: null, avoidNodes: [] },
    selection: { kind: "auto", gpuModels: null, maxPriceCents: null },
    hubBytes: isSpread ? GIB : null,
    ...{ images: null, agentProtocol: 1, isReached: false, waitingSince: now },
    runsMs: statedMs - (runsMs - leftMs),
  };
}

function expectationOf(
  snapshot: Snapshot,
  {
    running,
    now,
    lately,
    job,
  }: { running: readonly RunningGang[]; now: number; lately: LatelyKnown; job: string },
): ExpectedStart {
  const steps = expectedStarts(snapshot, running, now, { lately, of: new Set([job]) });
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value.get(job)!;
  }
}
