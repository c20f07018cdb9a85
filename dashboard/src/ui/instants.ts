/** Instants and durations in words. Pure but for the zone of whoever looks. */

const UNITS = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
  ["s", 1],
] as const;

/** `2 h 05 min`: the two largest units. */
export function duration(ms: number): string {
  let rest = Math.max(0, Math.round(ms / 1000));
  const parts: string[] = [];
  for (const [unit, seconds] of UNITS) {
    const count = Math.floor(rest / seconds);
    rest -= count * seconds;
    if (count > 0 || (unit === "s" && parts.length === 0)) parts.push(`${count} ${unit}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.join(" ");
}

/** Made once: to make one takes as long as a hundred uses. */
const LOCAL = new Intl.DateTimeFormat([], {
  ...{ year: "numeric", month: "short", day: "numeric" },
  ...{ hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short" },
});

/** Writes a time with its zone: a time without one is read as anybody's. */
export function localInstant(instant: string): string {
  return LOCAL.format(new Date(instant));
}

const TIME = new Intl.DateTimeFormat([], {
  ...{ month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit" },
  hourCycle: "h23",
});

/** `UTC`, `GMT+1`: of whoever looks. */
export function zoneName(): string {
  const parts = LOCAL.formatToParts(Date.now());
  return parts.find(({ type }) => type === "timeZoneName")?.value ?? "this browser";
}

/** A time of the last days, beside what says its zone. @param at Unix milliseconds */
export function timeOfDay(at: number): string {
  return Number.isNaN(at) ? "" : TIME.format(at);
}

/** `2026-11-26 14:03:11 UTC` */
export function utcInstant(instant: string): string {
  return `${new Date(instant).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
