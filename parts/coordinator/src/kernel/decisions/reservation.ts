/**
 * Which workers are reserved for a gang that waited long, and until when others may still use them: EASY backfill
 * (https://doi.org/10.1007/3-540-60153-8_35). Without it a gang of many workers never starts beside a stream of small ones. Pure.
 */
import type { PlacementWorker, RunningGang } from "./placement-facts.ts";

/** Who waited so long has workers reserved. */
export const RESERVED_AFTER_MS = 15 * 60_000;
/** Where somebody who holds a worker states no end, others are let in for so long after the reservation began, and then no more. */
const UNSTATED_MS = 60 * 60_000;

/** @property workers ids, those that are held among them @property until in milliseconds: whoever ends by then delays nobody */
export type Reservation = { workers: ReadonlySet<string>; until: number };

/**
 * The workers that the gang would get soonest.
 * @param serving all that serve it once they are free
 * @param waitingSince of the gang; times in milliseconds
 * @param choose those that it gets of some; null when they are too few
 * @returns null where all of them are too few
 */
export function reserveFor(
  serving: readonly PlacementWorker[],
  {
    running,
    now,
    waitingSince,
    choose,
  }: {
    running: readonly RunningGang[];
    now: number;
    waitingSince: number;
    choose: (workers: readonly PlacementWorker[]) => readonly PlacementWorker[] | null;
  },
): Reservation | null {
  const endOf = new Map<string, number>();
  for (const { workers, endsAt } of running)
    for (const id of workers) endOf.set(id, endsAt === null ? Infinity : Math.max(now, endsAt));
  // What is held by nobody that is known lets go already.
  const freeAt = (worker: PlacementWorker) => endOf.get(worker.id) ?? now;
  const times = [...new Set(serving.map(freeAt))].toSorted((a, b) => a - b);
  const by = (time: number) => choose(serving.filter((worker) => freeAt(worker) <= time));
  let [tooSoon, soonEnough] = [-1, times.length - 1];
  if (times.length === 0 || by(times[soonEnough]!) === null) return null;
  while (soonEnough - tooSoon > 1) {
    const middle = (tooSoon + soonEnough) >> 1;
    if (by(times[middle]!) === null) tooSoon = middle;
    else soonEnough = middle;
  }
  const time = times[soonEnough]!;
  const until = time === Infinity ? waitingSince + RESERVED_AFTER_MS + UNSTATED_MS : time;
  return { workers: new Set(by(time)!.map(({ id }) => id)), until };
}
