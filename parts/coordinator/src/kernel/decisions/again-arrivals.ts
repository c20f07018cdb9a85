/** Jobs that may come, as those of the last hours came: the same again, in each future from another moment on. Pure. */
import type { WaitingGang } from "./placement-facts.ts";

/** @property ranMs how long it ran in all; null: it has not ended */
export type Arrival = { at: number; gang: WaitingGang; ranMs: number | null };

/** They have their turn after all that wait. */
const AFTER_ALL = 2 ** 51;

/**
 * @param came those of the last time
 * @param since from when on all that came are known
 * @param turn from 0 to 1: where in that time the future begins
 * @param horizonMs how far it reaches
 * @param isKept of the same job once or several times again, whether it comes
 * @returns the first first, each with an id of its own
 */
export function arrivalsAgain(
  came: readonly Arrival[],
  {
    since,
    now,
    turn,
    horizonMs,
    isKept,
  }: {
    since: number;
    now: number;
    turn: number;
    horizonMs: number;
    isKept: (job: string) => boolean;
  },
): Arrival[] {
  const span = now - since;
  if (span <= 0) return [];
  const arrivals: Arrival[] = [];
  for (let round = 0; (round - turn) * span < horizonMs; round += 1)
    for (const one of came) {
      const after = one.at - since + (round - turn) * span;
      const job = `${one.gang.job} again ${round}`;
      if (after <= 0 || after > horizonMs || !isKept(job)) continue;
      const at = now + after;
      arrivals.push({ ...one, at, gang: { ...one.gang, job, waitingSince: at } });
    }
  return arrivals
    .toSorted((a, b) => a.at - b.at)
    .map((one, n) => ({ ...one, gang: { ...one.gang, sequence: AFTER_ALL + n } }));
}
