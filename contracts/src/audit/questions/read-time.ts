/** A time as people write it, in UTC. Pure. */

const UNITS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
const DAY_MS = 86_400_000;
const DAY = /^(\d{4}-\d{2}-\d{2})$/;
const TIME = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2})?(\.\d{1,3})?(Z|[+-]\d{2}:\d{2})?$/;
const AGO = /^(\d{1,5})([mhdw])$/;

export const TIME_FORMS =
  "a day in UTC, 2026-11-28; a time, 2026-11-28 14:00, with Z or an offset where you like; today, yesterday, now; or how long ago, 30m, 24h, 7d, 2w";

/**
 * @param edge which end of a period it is: a day counts whole @param nowMs Unix milliseconds
 * @returns Unix milliseconds, and whether they move with the clock; null for what is no time
 */
export function readTime(
  text: string,
  edge: "from" | "to",
  nowMs: number,
): { ms: number; isRelative: boolean } | null {
  const written = text.trim();
  const day = edge === "from" ? 0 : DAY_MS;
  const today = nowMs - (nowMs % DAY_MS);
  if (written === "now") return { ms: nowMs, isRelative: true };
  if (written === "today") return { ms: today + day, isRelative: true };
  if (written === "yesterday") return { ms: today - DAY_MS + day, isRelative: true };
  const [, count, unit = ""] = AGO.exec(written) ?? [];
  if (count !== undefined) {
    const ms = nowMs - Number(count) * UNITS[unit]!;
    return ms < 0 ? null : { ms, isRelative: true };
  }
  const [, whole] = DAY.exec(written) ?? [];
  if (whole !== undefined) {
    const midnight = midnightOf(whole);
    return midnight === null ? null : { ms: midnight + day, isRelative: false };
  }
  const [, date = "", minute, second = ":00", fraction = "", zone = "Z"] = TIME.exec(written) ?? [];
  if (minute === undefined || midnightOf(date) === null) return null;
  const ms = Date.parse(`${date}T${minute}${second}${fraction}${zone}`);
  return Number.isNaN(ms) || ms < 0 ? null : { ms, isRelative: false };
}

/** Answers the Unix milliseconds at which a day begins; null for a day before 1970, or one that no calendar has. */
function midnightOf(day: string): number | null {
  const ms = Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(ms) || ms < 0 || !new Date(ms).toISOString().startsWith(day) ? null : ms;
}
