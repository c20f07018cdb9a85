/** Less is slewing, or the coarseness of the clocks. */
const LEAST_STEP_MS = 2_000;

/** How far everything must move along with the wall clock; null when it only drifts. */
export function evaluateStep(differenceMs: number): number | null {
  return Math.abs(differenceMs) < LEAST_STEP_MS ? null : Math.round(differenceMs);
}
