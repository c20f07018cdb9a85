/** Which shard follows which, and when: a year each, `2026`, and `2026-2` after a restore. Pure; the clock and its trust are given. */

const PREPARE_AHEAD_MS = 30 * 86_400_000;
const SLUG = /^([0-9]{4})(?:-([1-9][0-9]{0,3}))?$/;

/** The last part of an origin, and the name of the shard's folder. */
export function slugOf(origin: string): string {
  return origin.slice(origin.lastIndexOf("/") + 1);
}

/** @throws RangeError for what no shard is called */
export function slugAfter(slug: string, reason: "year" | "restore"): string {
  const match = SLUG.exec(slug);
  if (match === null) throw new RangeError(`no shard is called ${slug}`);
  const [, year = "", turn = "1"] = match;
  return reason === "year" ? String(Number(year) + 1) : `${year}-${Number(turn) + 1}`;
}

/** The shard that a log made at this time begins with. */
export function firstSlug(nowMs: number): string {
  return String(new Date(nowMs).getUTCFullYear());
}

export type ShardState = {
  slug: string;
  /** `audit.shard.next` stands in it. */
  isNextPrepared: boolean;
  nowMs: number;
  /** The clock is synchronized, or an officer said that it is right. */
  isClockTrusted: boolean;
};

/**
 * What is due: the next shard's keys 30 days ahead, the turn after the new year. A clock that nobody vouches for may prepare, which harms nothing,
 * and never turns: a turn can't be taken back.
 */
export function dueStep({ slug, isNextPrepared, nowMs, isClockTrusted }: ShardState): "prepare" | "turn" | null {
  const newYearMs = Date.UTC(Number(slugAfter(slug, "year")), 0, 1);
  if (!isNextPrepared) return nowMs >= newYearMs - PREPARE_AHEAD_MS ? "prepare" : null;
  return nowMs >= newYearMs && isClockTrusted ? "turn" : null;
}

/** However short a retention is asked for. */
const MIN_KEPT_MS = 365 * 86_400_000;

/** Whether a shard's last entry is older than what is kept. A time that can't be read is not. */
export function isPastRetention(lastAt: string, beforeMs: number, nowMs: number): boolean {
  return Date.parse(lastAt) < Math.min(beforeMs, nowMs - MIN_KEPT_MS);
}

/** The most that somebody outside the log's folder has seen of it. */
export type Seen = { size: number; root: string | null; by: string };

/**
 * Whether the log's folder is older than what others have seen of it: then nothing may be signed for its origin again, because a second tree would
 * grow under one name. Null when nobody has seen more than `size`.
 */
export function rolledBackFrom(size: number, seen: readonly Seen[]): Seen | null {
  return seen.reduce<Seen | null>((most, one) => (one.size > (most?.size ?? size) ? one : most), null);
}
