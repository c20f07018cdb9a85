/** What a deployment asks for, and the times that keep its replicas from coming and going in turns. Pure; milliseconds. */

import type { Scaling } from "../../workloads/predictor/scaling.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

export const SCALING = {
  /** Too few replicas for so long: more are placed. */
  upAfterMs: 2 * SECOND,
  /** Too many for so long: one goes, and the next one after as long again. A deployment may ask for another time. */
  downAfterMs: 300 * SECOND,
  /** A replica that is ready stays at least so long, and {@link SCALING.residenceOfWakes} times what a wake takes. */
  residenceMs: 60 * SECOND,
  residenceOfWakes: 3,
  /** A wake that nobody waits for any more goes on once it has got so far. */
  loadedShare: 0.7,
  /** So many failed wakes within the window open the breaker; then comes one try at a time. */
  failuresOfBreaker: 3,
  breakerWindowMs: 10 * MINUTE,
  tryEveryMs: 5 * MINUTE,
  /** Asleep for so long without a call, a replica gives its place back. */
  sleepMs: 60 * MINUTE,
  /** Whose worker was taken back has so long for the calls that it has. */
  makesWayMs: 120 * SECOND,
  /** What a wake is taken to last before one was seen. */
  firstWakeMs: 30 * SECOND,
  /** How many of the last wakes count. */
  wakesKept: 20,
} as const;

export type ScalingPolicy = Scaling & {
  /** Its replicas can keep their place with the payload stopped, and nobody else waits for it. */
  sleeps: boolean;
};

/** Answers the milliseconds that 95 in 100 of the wakes that were seen stay below. */
export function wakeP95(wakesMs: readonly number[]): number {
  if (wakesMs.length === 0) return SCALING.firstWakeMs;
  const sorted = wakesMs.toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.95) - 1]!;
}

export function residenceMs(wakesMs: readonly number[]): number {
  return Math.max(SCALING.residenceMs, SCALING.residenceOfWakes * wakeP95(wakesMs));
}
