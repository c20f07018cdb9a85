/** Sizes, spans and instants as people write and read them. Pure. */

const UNITS: Readonly<Record<string, number>> = {
  "": 1,
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KIB: 1024,
  MIB: 1024 ** 2,
  GIB: 1024 ** 3,
  TIB: 1024 ** 4,
};

/** `500GB`, `1.5 TiB`, `1000000` → bytes; null for what is no size. */
export function parseSize(text: string): number | null {
  const [, number = "", unit = ""] = /^(\d+(?:\.\d+)?)\s*([A-Za-z]*)$/.exec(text.trim()) ?? [];
  const factor = UNITS[unit.toUpperCase()];
  const bytes = Math.round(Number(number) * (factor ?? Number.NaN));
  return number === "" || !Number.isSafeInteger(bytes) ? null : bytes;
}

export function formatSize(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let [value, at] = [bytes, 0];
  while (value >= 1024 && at < units.length - 1) [value, at] = [value / 1024, at + 1];
  return `${at === 0 ? value : value.toFixed(1)} ${units[at]}`;
}

/** `2026-11-25 14:03` of an RFC 3339 instant, in UTC. */
export function formatInstant(instant: string | null): string {
  return instant === null ? "never" : instant.slice(0, 16).replace("T", " ");
}

/** `in 3 days`, `2 h ago`. */
export function formatFromNow(instant: string, now: number): string {
  const ms = Date.parse(instant) - now;
  const span = formatSpan(Math.abs(ms) / 1_000);
  return ms >= 0 ? `in ${span}` : `${span} ago`;
}

export function formatSpan(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}
