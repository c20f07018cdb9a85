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

/** `2026` before `2026-2` before `2027`. */
export function inOrder(a: string, b: string): number {
  const [yearA = 0, countA = 0] = a.split("-").map(Number);
  const [yearB = 0, countB = 0] = b.split("-").map(Number);
  return yearA - yearB || countA - countB;
}

/** Years, and shards of one year, that are looked for. */
const YEARS_AFTER = 16;
const COUNT_OF_YEAR = 16;

/** Shards that may have come after one by now: up to the next year's, which may be prepared. */
export function slugsAfter(slug: string, now: string): string[] {
  const year = yearOf(slug);
  const last = Math.min(Math.max(yearOf(now), year) + 1, year + YEARS_AFTER, 9_999);
  const years = Array.from({ length: last - year + 1 }, (_, at) =>
    String(year + at).padStart(4, "0"),
  );
  const ofYear = (one: string): string[] => [
    one,
    ...Array.from({ length: COUNT_OF_YEAR - 1 }, (_, at) => `${one}-${at + 2}`),
  ];
  return [...new Set([...years.flatMap(ofYear), slugAfter(slug, "restore")])].filter(
    (one) => inOrder(one, slug) > 0,
  );
}

/** Two people opened it after a restore. */
export function isNumbered(slug: string): boolean {
  return slug.includes("-");
}

export function isSlug(text: string): boolean {
  return SLUG.test(text);
}

export function yearOf(slug: string): number {
  return Number.parseInt(slug, 10);
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
export function dueStep({
  slug,
  isNextPrepared,
  nowMs,
  isClockTrusted,
}: ShardState): "prepare" | "turn" | null {
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
