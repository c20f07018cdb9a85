/**
 * When each waiting gang is expected to start. Pure, in steps. Where nothing is known of the last hours, jobs run as long as they state, and none comes.
 * Else several futures are looked at, in which jobs end as others ended, and come as others came; what most of them have is told.
 */
import { agreedStart, type StartRange } from "./agreed-start.ts";
import { type Arrival, arrivalsAgain } from "./again-arrivals.ts";
import { type ForeseenStarts, foreseenStarts, type Future } from "./foreseen-starts.ts";
import { shapeOf } from "./gang-shapes.ts";
import { nodesUnclosed } from "./node-gate.ts";
import type { RunningGang, WaitingGang } from "./placement-facts.ts";
import type { Snapshot } from "./placement.ts";
import { PlacementFleet } from "./placement-fleet.ts";
import { type EndedRun, RunParts } from "./run-parts.ts";
import { amountsOf, ShareLedger } from "./shares.ts";
import { findWithinLimits } from "./within-limits.ts";

/** So many moments are looked ahead where none comes, and where others do. */
const MOST_MOMENTS = { alone: 64, beside: 256 };
/** Who comes later than that matters to nobody that waits now. */
const HORIZON_MS = 60 * 60_000;
/** What fewer jobs did is no habit. */
const LEAST_CAME = 10;
/** So many futures at most, and so many gangs and workers of all of them together: a plan takes longer the more there are. */
const [MOST_FUTURES, MOST_LOOKED_AT] = [6, 4_000];
/** Who waits is told so in a busy hour, and a calmer one follows as often as not. So of what came lately each future has another part come again. */
const LEAST_AGAIN = 0.25;
/** How long who makes way takes, where nobody has lately. */
const MAKES_WAY_MS = 120_000;
/** Its multiples are spread evenly, however many there are. */
const GOLDEN = 0.618_033_988_749_895;

/**
 * Why there is no time: who holds the workers states no end, too many end before, or the gang would not fit if all were free, or is over a limit alone.
 * @property range absent: all futures are near to one another
 */
export type ExpectedStart =
  | { at: number; range?: StartRange }
  | { at: null; why: "no-end-stated" | "far-off" | "never-fits" };

/**
 * What is known of the last hours. @property since from when on all that came are known
 * @property ended the newest first @property madeWayMs how long who made way took; null: nobody did
 */
export type LatelyKnown = {
  since: number;
  came: readonly Arrival[];
  ended: readonly EndedRun[];
  madeWayMs: number | null;
};

/**
 * @param running all that hold workers, whether shares are set or not; times of one clock, in milliseconds
 * @param of jobs that are asked for; absent: all that wait
 */
export function* expectedStarts(
  snapshot: Snapshot,
  running: readonly RunningGang[],
  now: number,
  {
    lately = null,
    of = null,
  }: { lately?: LatelyKnown | null; of?: ReadonlySet<string> | null } = {},
): Generator<void, Map<string, ExpectedStart>> {
  const found = new Map<string, ExpectedStart>();
  const gangs = snapshot.gangs.filter(
    ({ isFurther, job }) => !isFurther && (of === null || of.has(job)),
  );
  const fitting = new Set(yield* fittingOf(gangs, snapshot));
  const size = snapshot.gangs.length + snapshot.workers.length;
  const foreseen: ForeseenStarts[] = [];
  for (const { most, ...future } of futuresOf(lately, size, now))
    foreseen.push(yield* foreseenStarts(snapshot, { running, now, most, of: fitting }, future));
  const later = foreseen.every(({ knowsNoEnd }) => knowsNoEnd) ? "no-end-stated" : "far-off";
  for (const { job } of gangs) {
    const starts = foreseen.map((one) => one.starts.get(job) ?? null);
    const why = fitting.has(job) ? later : "never-fits";
    found.set(job, agreedStart(starts, now) ?? { at: null, why });
  }
  return found;
}

/** Those that would start if nobody held anything. Whoever never starts is no reason to look farther ahead. */
function* fittingOf(
  gangs: readonly WaitingGang[],
  { workers, nodes, sharing }: Snapshot,
): Generator<void, string[]> {
  const empty = workers.map((worker) => ({ ...worker, isFree: true, keptFor: null }));
  const fleet = new PlacementFleet(nodesUnclosed(nodes), empty, gangs);
  // What binds now binds always.
  const ledger = new ShareLedger(sharing?.shares ?? [], amountsOf(workers));
  const fits = new Map<string, boolean>();
  const fitting: string[] = [];
  for (const gang of gangs) {
    const key = `${gang.project} ${fleet.withGates(shapeOf(gang), gang)}`;
    let mayFit = fits.get(key);
    if (mayFit === undefined) {
      const { chosen, over } = findWithinLimits(gang, {
        ...{ fleet, ledger },
        find: (one) => fleet.find(one, false),
        demandOf: () => ({}),
      });
      fits.set(key, (mayFit = chosen !== null && over === null));
    }
    if (mayFit) fitting.push(gang.job);
    yield;
  }
  return fitting;
}

/** @param size how much each plan looks at @returns one alone where nothing is known, or more would take too long */
function futuresOf(
  lately: LatelyKnown | null,
  size: number,
  now: number,
): (Future & { most: number })[] {
  const { since = now, came = [], ended = [], madeWayMs = null } = lately ?? {};
  const known = new Map(came.map(({ gang }) => [gang.job, gang]));
  const parts = new RunParts(ended);
  const makesWayMs = madeWayMs ?? MAKES_WAY_MS;
  const gangOf = (job: string) => known.get(job);
  const count = Math.min(MOST_FUTURES, Math.floor(MOST_LOOKED_AT / Math.max(1, size)));
  if (came.length < LEAST_CAME || count < 2)
    return [
      {
        ...{ arrivals: [], makesWayMs, gangOf, most: MOST_MOMENTS.alone },
        endOf: ({ project }, ran) => parts.endOf(project, 0.5, ran),
      },
    ];
  return Array.from({ length: count }, (_, n) => {
    const again = LEAST_AGAIN + (1 - LEAST_AGAIN) * ((n * GOLDEN + 0.3) % 1);
    return {
      ...{ makesWayMs, gangOf, most: MOST_MOMENTS.beside },
      arrivals: arrivalsAgain(came, {
        ...{ since, now, turn: (n + 0.5) / count, horizonMs: HORIZON_MS },
        isKept: (job) => drawOf(job, n) < again,
      }),
      endOf: ({ project, job }, ran) => parts.endOf(project, drawOf(job, n), ran),
    };
  });
}

/** From 0 to 1, the same for a job in a future each time; over all futures evenly spread. FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/ */
function drawOf(job: string, future: number): number {
  let hash = 2_166_136_261;
  for (let at = 0; at < job.length; at += 1)
    hash = Math.imul(hash ^ job.charCodeAt(at), 16_777_619) >>> 0;
  return (hash / 2 ** 32 + (future + 1) * GOLDEN) % 1;
}
