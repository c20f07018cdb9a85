/**
 * When each waiting gang is expected to start, as far as jobs state how long they run: the plan of now, then the plan at each moment at which somebody must
 * have ended. Pure, in steps. Whoever ends early makes these times too late, and a job that comes later and has a better claim makes them too early.
 */
import type { RunningGang, WaitingGang } from "./placement-facts.ts";
import { shapeOf } from "./gang-shapes.ts";
import { nodesAt, nodesUnclosed, openingsAfter } from "./node-gate.ts";
import { PlacementFleet } from "./placement-fleet.ts";
import { poolUseOf } from "./pool-ledger.ts";
import { amountsOf, ShareLedger } from "./shares.ts";
import { findWithinLimits } from "./within-limits.ts";
import { planInSteps, type Snapshot } from "./placement.ts";

/** So many moments are looked ahead. */
const MOST_MOMENTS = 64;
/** How long who makes way may take. */
const MAKES_WAY_MS = 120_000;

/** Why there is no time: who holds the workers states no end, too many end before, or the gang would not fit if all were free, or is over a limit alone. */
export type ExpectedStart =
  | { at: number }
  | { at: null; why: "no-end-stated" | "far-off" | "never-fits" };

/** @param running all that hold workers, whether shares are set or not; times of one clock, in milliseconds */
export function* expectedStarts(
  snapshot: Snapshot,
  running: readonly RunningGang[],
  now: number,
): Generator<void, Map<string, ExpectedStart>> {
  const found = new Map<string, ExpectedStart>();
  let held = [...running];
  let gangs = snapshot.gangs.filter(({ isFurther }) => !isFurther);
  let at = now;
  let knowsNoEnd = false;
  for (let moment = 0; moment < MOST_MOMENTS && gangs.length > 0; moment += 1) {
    const taken = new Set(held.flatMap(({ workers }) => workers));
    const workers = snapshot.workers.map((worker) => ({
      ...worker,
      // What somebody holds whom nobody knows, as a member that lets go, is busy now and free afterwards.
      isFree: !taken.has(worker.id) && (worker.isFree || moment > 0),
      keptFor: moment === 0 ? (worker.keptFor ?? null) : null,
    }));
    const { sharing } = snapshot;
    const { placements, preemptions } = yield* planInSteps({
      ...{
        gangs,
        nodes: nodesAt(snapshot.nodes, at),
        workers,
        backfill: { now: at, running: held },
        // Those that let go already hold theirs at the first moment alone.
        poolUse:
          moment === 0 && snapshot.poolUse !== undefined
            ? snapshot.poolUse
            : poolUseOf(snapshot.nodes, snapshot.workers, held),
      },
      sleepers: (snapshot.sleepers ?? []).filter(({ workers: ids }) =>
        held.some((gang) => ids.some((id) => gang.workers.includes(id))),
      ),
      ...(sharing === undefined
        ? {}
        : {
            sharing: {
              ...{ ...sharing, now: at, running: held },
              leaving: moment === 0 ? sharing.leaving : [],
            },
          }),
    });
    const started = new Map(gangs.map((gang) => [gang.job, gang]));
    const begun = new Set<WaitingGang>();
    const begin = (job: string, ids: readonly string[], from: number) => {
      const gang = started.get(job)!;
      found.set(job, { at: from });
      begun.add(gang);
      const { project, userId, priority, runsMs, isOnlyGuaranteed = false } = gang;
      held.push({
        ...{ job, attempt: job, project, userId, priority, isPreemptible: true, workers: ids },
        staysGuaranteed: isOnlyGuaranteed,
        ...{ startedAt: from, committedAt: from, preemptedAt: [] },
        endsAt: runsMs === null ? null : from + runsMs,
      });
    };
    for (const { job, workers: ids } of placements) begin(job, ids, at);
    for (const { job, workers: ids, victims } of preemptions) {
      const gone = new Set(victims.map(({ attempt }) => attempt));
      held = held.filter(({ attempt }) => !gone.has(attempt));
      begin(job, ids, at + MAKES_WAY_MS);
    }
    gangs = gangs.filter((gang) => !begun.has(gang));
    const ends = held.flatMap(({ endsAt }) => (endsAt === null ? [] : [endsAt]));
    ends.push(...openingsAfter(snapshot.nodes, at));
    // Those that let go already are gone soon, whatever they stated.
    if (
      moment === 0 &&
      workers.some(({ id, isFree, keptFor }) => !taken.has(id) && (!isFree || keptFor !== null))
    )
      ends.push(now + MAKES_WAY_MS);
    knowsNoEnd = ends.length === 0;
    if (knowsNoEnd) break;
    const next = Math.max(at, Math.min(...ends));
    held = held.filter(({ endsAt }) => endsAt === null || endsAt > next);
    at = next;
  }
  const empty = snapshot.workers.map((worker) => ({ ...worker, isFree: true, keptFor: null }));
  const fleet = new PlacementFleet(nodesUnclosed(snapshot.nodes), empty, gangs);
  // Nobody holds anything: what binds now binds always.
  const ledger = new ShareLedger(snapshot.sharing?.shares ?? [], amountsOf(snapshot.workers));
  const fits = new Map<string, boolean>();
  const later = knowsNoEnd ? "no-end-stated" : "far-off";
  for (const gang of gangs) {
    const shape = fleet.withGates(shapeOf(gang), gang);
    const key = `${gang.project} ${shape}`;
    let mayFit = fits.get(key);
    if (mayFit === undefined) {
      const { chosen, over } = findWithinLimits(gang, {
        ...{ fleet, ledger },
        find: (asked) => fleet.find(asked, false),
        demandOf: () => ({}),
      });
      fits.set(key, (mayFit = chosen !== null && over === null));
    }
    found.set(gang.job, { at: null, why: mayFit ? later : "never-fits" });
    yield;
  }
  return found;
}
