/** What a node may do, from when its last answered beat was sent. Counted on a clock that counts suspend. */
export type LeaseVerdict = "work" | "no-new-work" | "stop-all";

/** The lease ends this long before the coordinator's own count could: nothing new is taken meanwhile. */
const MARGIN_MS = 5_000;

/**
 * @param sentAtMs boot-clock time at which the beat that was answered was *sent*; null: none was yet
 * @param leaseMs length that the answer gave; longer during planned maintenance
 */
export function judgeLease(sentAtMs: number | null, leaseMs: number, nowMs: number): LeaseVerdict {
  if (sentAtMs === null) return "no-new-work";
  const agoMs = nowMs - sentAtMs;
  if (agoMs >= leaseMs) return "stop-all";
  return agoMs >= leaseMs - MARGIN_MS ? "no-new-work" : "work";
}

/** The next beat: five seconds and up to a fifth more or less, so that a thousand agents never beat as one. */
export function nextBeatMs(intervalMs: number, random: number): number {
  return Math.round(intervalMs * (0.8 + 0.4 * random));
}
