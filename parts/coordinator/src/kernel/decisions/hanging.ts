/** Whether a running job gives no sign of life: no step, round, log or metric. Pure. */
export type SignsOfLife = {
  now: number;
  lastSign: number;
  hangAfterMs: number;
  /** How often it was reported since the last sign. */
  reported: number;
};

/** `report`: for the first time, or as long again since the last report; `forget`: what was reported is over. */
export function evaluateSilence({
  now,
  lastSign,
  hangAfterMs,
  reported,
}: SignsOfLife): "report" | "forget" | null {
  const periods = Math.floor((now - lastSign) / hangAfterMs);
  if (periods > reported) return "report";
  return periods < 1 && reported > 0 ? "forget" : null;
}

export function silenceText(now: number, lastSign: number): string {
  const minutes = Math.floor((now - lastSign) / 60_000);
  return `the job may hang: no step, round, log or metric for ${minutes} minutes`;
}
