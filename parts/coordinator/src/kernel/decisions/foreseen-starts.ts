/** When each waiting gang starts in one future: the plan of now, then the plan at each moment at which somebody ends or comes. Pure, in steps. */
import type { Arrival } from "./again-arrivals.ts";
import { nodesAt, openingsAfter } from "./node-gate.ts";
import type { PlacementWorker, RunningGang, WaitingGang } from "./placement-facts.ts";
import { poolUseOf } from "./pool-ledger.ts";
import { placedInSteps, type Snapshot } from "./placement.ts";

/** So many moments are looked at one by one; later ones are taken together, the more the farther they are off. */
const EXACT_MOMENTS = 16;
/** As a part of the time until then, and far less than the fifth that counts as near. */
const TOGETHER = 0.03;

/** One way in which things may go. */
export type Future = {
  /** The first first. */
  arrivals: readonly Arrival[];
  /** The part of what it states at which a gang ends that ran so much of it already. */
  endOf: (gang: Pick<RunningGang, "project" | "job">, ran: number) => number;
  /** How long who makes way takes. */
  makesWayMs: number;
  /** What a job that runs asks for once it waits again; undefined: nobody knows, and it is gone. */
  gangOf: (job: string) => WaitingGang | undefined;
};
/** @property starts a gang that is not there starts later than was looked @property knowsNoEnd nobody that runs states an end */
export type ForeseenStarts = { starts: Map<string, number>; knowsNoEnd: boolean };

/** @property goesAt when it ends in this future; null: nobody knows */
type Held = RunningGang & { goesAt: number | null; gang: WaitingGang | undefined };
/** Of one whose end is known before it begins: it made way, or is like one that ran. */
type Rest = { leftMs: number; preemptedAt: readonly number[] };

/**
 * @param running all that hold workers, whether shares are set or not; times of one clock, in milliseconds
 * @param most moments that are looked at
 * @param of jobs whose starts are asked for
 */
export function* foreseenStarts(
  snapshot: Snapshot,
  {
    running,
    now,
    most,
    of,
  }: { running: readonly RunningGang[]; now: number; most: number; of: ReadonlySet<string> },
  future: Future,
): Generator<void, ForeseenStarts> {
  const starts = new Map<string, number>();
  const rests = new Map<string, Rest>();
  const { sharing, sleepers = [] } = snapshot;
  const versions = snapshot.workers.map(versionsOf);
  const freeSince = new Map<string, number>();
  let held = running.map(
    (gang): Held => ({
      ...gang,
      ...{ gang: future.gangOf(gang.job), goesAt: goesAt(gang, now, future) },
    }),
  );
  let gangs = snapshot.gangs.filter(({ isFurther }) => !isFurther);
  let [at, before] = [now, now];
  let arrived = 0;
  let knowsNoEnd = false;
  for (let moment = 0; moment < most && starts.size < of.size; moment += 1) {
    const taken = new Set(held.flatMap(({ workers }) => workers));
    const workers = versions.map(({ first, free, busy }) =>
      taken.has(free.id) ? busy : moment === 0 ? first : free,
    );
    const { placements, preemptions } = yield* placedInSteps({
      ...{ gangs, nodes: nodesAt(snapshot.nodes, at), workers },
      backfill: { now: at, running: held },
      // Those that let go already hold theirs at the first moment alone.
      poolUse:
        moment === 0 && snapshot.poolUse !== undefined
          ? snapshot.poolUse
          : poolUseOf(snapshot.nodes, snapshot.workers, held),
      sleepers: sleepers.filter(({ workers: ids }) => ids.some((id) => taken.has(id))),
      ...(sharing === undefined
        ? {}
        : {
            sharing: {
              ...{ ...sharing, now: at, running: held },
              leaving: moment === 0 ? sharing.leaving : [],
            },
          }),
    });
    const waiting = new Map(gangs.map((gang) => [gang.job, gang]));
    const begin = (job: string, ids: readonly string[], from: number) => {
      const gang = waiting.get(job)!;
      waiting.delete(job);
      // What made way has started before.
      if (of.has(job) && !starts.has(job)) starts.set(job, from);
      const { project, userId, priority, runsMs, isOnlyGuaranteed = false } = gang;
      const rest = rests.get(job);
      const holder = {
        ...{ job, attempt: `${job} ${moment}`, project, userId, priority, workers: ids },
        ...{ isPreemptible: true, staysGuaranteed: isOnlyGuaranteed },
        ...{ startedAt: from, committedAt: from, preemptedAt: rest?.preemptedAt ?? [] },
        endsAt: runsMs === null ? null : from + runsMs,
      };
      const end = rest === undefined ? goesAt(holder, from, future) : from + rest.leftMs;
      held.push({ ...holder, gang, goesAt: end });
    };
    for (const { job, workers: ids } of placements) {
      // What ended and came since the last moment did so at times of its own; where another reason let the gang in, it is this moment.
      const times = [waiting.get(job)!.waitingSince, ...ids.map((id) => freeSince.get(id))];
      const latest = Math.max(...times.map((time = 0) => time));
      begin(job, ids, latest > before ? latest : at);
    }
    for (const { job, workers: ids, victims } of preemptions) {
      const gone = new Set(victims.map(({ attempt }) => attempt));
      for (const { gang, ...victim } of held.filter(({ attempt }) => gone.has(attempt))) {
        if (gang === undefined) continue;
        const { endsAt, goesAt: end, preemptedAt } = victim;
        if (end !== null)
          rests.set(victim.job, {
            leftMs: Math.max(0, end - at),
            preemptedAt: [...preemptedAt, at],
          });
        const runsMs = endsAt === null ? null : Math.max(0, endsAt - at);
        waiting.set(victim.job, { ...gang, runsMs, waitingSince: at });
      }
      held = held.filter(({ attempt }) => !gone.has(attempt));
      begin(job, ids, at + future.makesWayMs);
    }
    gangs = [...waiting.values()];
    const ends = held.flatMap(({ goesAt: end }) => (end === null ? [] : [end]));
    ends.push(...openingsAfter(snapshot.nodes, at));
    // Those that let go already are gone soon, whatever they stated.
    const leaving = moment > 0 ? [] : workers.filter((one) => !taken.has(one.id) && isAwaited(one));
    for (const { id } of leaving) freeSince.set(id, now + future.makesWayMs);
    if (leaving.length > 0) ends.push(now + future.makesWayMs);
    knowsNoEnd = ends.length === 0;
    if (knowsNoEnd) break;
    const soonest = Math.min(...ends, future.arrivals[arrived]?.at ?? Infinity);
    const together = moment < EXACT_MOMENTS ? 0 : (at - now) * TOGETHER;
    const next = Math.max(at, soonest, Math.min(at + together, Math.max(...ends)));
    held = held.filter(({ goesAt: end, workers: ids }) => {
      if (end === null || end > next) return true;
      for (const id of ids) freeSince.set(id, end);
      return false;
    });
    for (; (future.arrivals[arrived]?.at ?? Infinity) <= next; arrived += 1) {
      const { gang, ranMs } = future.arrivals[arrived]!;
      gangs.push(gang);
      if (ranMs !== null) rests.set(gang.job, { leftMs: ranMs, preemptedAt: [] });
    }
    [before, at] = [at, next];
  }
  return { starts, knowsNoEnd };
}

function isAwaited({ isFree, keptFor = null }: PlacementWorker): boolean {
  return !isFree || keptFor !== null;
}

function goesAt(gang: RunningGang, now: number, { endOf }: Future): number | null {
  const { startedAt, endsAt } = gang;
  if (endsAt === null || endsAt <= startedAt) return endsAt;
  const stated = endsAt - startedAt;
  return startedAt + stated * endOf(gang, Math.max(0, now - startedAt) / stated);
}

/** The same objects at each moment, for a plan keeps what it knows of each. What is held by nobody that is known is busy now, and free afterwards. */
function versionsOf(worker: PlacementWorker) {
  const { keptFor = null } = worker;
  const [free, busy] = [true, false].map((isFree) => ({ ...worker, isFree, keptFor: null }));
  return { first: { ...worker, keptFor }, free: free!, busy: busy! };
}
