/** What waits for one target, and when it is tried again. */
import type { DeliveryCode } from "../operations.ts";
import type { News } from "./alert.ts";

export type DeliveryQueue = {
  pending: readonly News[];
  /** News that were given up because too many waited. */
  dropped: number;
  deliveredAt: number | null;
  failure: { code: DeliveryCode; message: string; at: number; tries: number } | null;
};

export const EMPTY_QUEUE: DeliveryQueue = {
  ...{ pending: [], dropped: 0, deliveredAt: null, failure: null },
};

/** Beyond it the oldest go: what is in force comes again as a reminder. */
const MAX_PENDING = 200;
const FIRST_WAIT_MS = 15_000;
const LONGEST_WAIT_MS = 15 * 60_000;

export function withNews(queue: DeliveryQueue, news: readonly News[]): DeliveryQueue {
  const all = [...queue.pending, ...news];
  const over = Math.max(0, all.length - MAX_PENDING);
  return { ...queue, pending: all.slice(over), dropped: queue.dropped + over };
}

/** 15 s after the first failure, twice as long after each further one, at most 15 min. */
export function isDue({ pending, failure }: DeliveryQueue, now: number): boolean {
  if (pending.length === 0) return false;
  if (failure === null) return true;
  const waitMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failure.tries - 1));
  // A clock that was set back must not keep a message for ever.
  return now - failure.at >= waitMs || now < failure.at;
}

export function delivered(queue: DeliveryQueue, sent: readonly News[], now: number): DeliveryQueue {
  const taken = new Set(sent);
  return {
    ...{ dropped: 0, failure: null, deliveredAt: now },
    pending: queue.pending.filter((one) => !taken.has(one)),
  };
}

export function failed(
  queue: DeliveryQueue,
  { code, message }: { code: DeliveryCode; message: string },
  now: number,
): DeliveryQueue {
  return { ...queue, failure: { code, message, at: now, tries: (queue.failure?.tries ?? 0) + 1 } };
}
