/** Wall time for rows, monotonic time (suspend excluded) for leases; both in milliseconds. Tests bring their own. */
export type Clock = { now(): number; monotonic(): number };

export const SYSTEM_CLOCK: Clock = { now: () => Date.now(), monotonic: () => performance.now() };
