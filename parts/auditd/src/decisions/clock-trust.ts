/** Whether something that can't be undone may be done because of the time that the clock shows. */

/** Within it, time synchronization has put a clock right that somebody set: systemd-timesyncd asks every 34 minutes at the latest. */
const STEP_DOUBT_MS = 3_600_000;
/** Of the wall against the monotonic clock. */
export const CLOCK_STEP_MS = 1_000;

export type ClockFacts = {
  /** Somebody said that it is right, and it was not set since. */
  isVouched: boolean;
  isSynced: boolean;
  /** How far it was set since it was last looked at. */
  stepMs: number;
  /** Since it was last set; Infinity when it was not in this life. */
  sinceStepMs: number;
};

export function mayActOnClock({ isVouched, isSynced, stepMs, sinceStepMs }: ClockFacts): boolean {
  return (
    Math.abs(stepMs) <= CLOCK_STEP_MS && (isVouched || (isSynced && sinceStepMs >= STEP_DOUBT_MS))
  );
}
