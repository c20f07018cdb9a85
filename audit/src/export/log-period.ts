/** A period of the log, and which shards hold entries of it. Pure. */

/** In the log's form and by its clock; null for the beginning, or the end, of what is there. */
export type LogPeriod = {
  /** Not before. */
  from: string | null;
  /** Before. */
  to: string | null;
};
export const WHOLE: LogPeriod = { from: null, to: null };

/** A shard by the log's times of its first and last entry; null for one without an entry. */
export type ShardSpan = { slug: string; first: string | null; last: string | null };

export function isWithin({ from, to }: LogPeriod, time: string): boolean {
  return (from === null || time >= from) && (to === null || time < to);
}

export function overlaps({ from, to }: LogPeriod, { first, last }: ShardSpan): boolean {
  return (
    first !== null &&
    last !== null &&
    (from === null || last >= from) &&
    (to === null || first < to)
  );
}
