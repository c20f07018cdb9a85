/** What a node may do, from when its last answered beat was sent. Counted on a clock that counts suspend. */
export type LeaseVerdict = "work" | "no-new-work" | "stop-all";

/** Nothing new is taken this long before the lease ends. */
const MARGIN_MS = 5_000;

export type Lease = {
  /** Boot-clock time at which the request that was answered was *sent*; null: this process was answered none yet. */
  sentAtMs: number | null;
  /** Boot-clock time at which everything must be over; null: there never was a lease. */
  endsAtMs: number | null;
};

/** A lease from a request's sending; `leaseMs` is longer during planned maintenance. */
export function grantLease(sentAtMs: number, leaseMs: number): Lease {
  return { sentAtMs, endsAtMs: sentAtMs + leaseMs };
}

export function evaluateLease({ sentAtMs, endsAtMs }: Lease, nowMs: number): LeaseVerdict {
  if (endsAtMs !== null && nowMs >= endsAtMs) return "stop-all";
  if (sentAtMs === null || endsAtMs === null) return "no-new-work";
  return nowMs >= endsAtMs - MARGIN_MS ? "no-new-work" : "work";
}

/** The next beat: up to a fifth more or less than the interval, so that a thousand agents never beat as one. */
export function nextBeatMs(intervalMs: number, random: number): number {
  return Math.round(intervalMs * (0.8 + 0.4 * random));
}
