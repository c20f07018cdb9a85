/** One line of a part's log as a person reads it. Pure. */

const LEVELS: Readonly<Record<number, string>> = {
  10: "trace",
  20: "debug",
  30: "info",
  40: "warn",
  50: "ERROR",
  60: "FATAL",
};
/** What every line has and nobody reads. */
const HIDDEN = new Set(["level", "time", "pid", "hostname", "msg", "v", "name"]);
const MAX_FIELD = 300;

export type ReadLine = {
  /** Unix milliseconds; null where the line tells none. */
  at: number | null;
  text: string;
};

/** Lines of our processes are JSON with `time` and `msg`; engines write what they like, which stays as it is. */
export function readLogLine(line: string): ReadLine {
  const told = parse(line);
  if (told === null) return { at: timeIn(line), text: visible(line) };
  const at = typeof told["time"] === "number" ? told["time"] : Date.parse(shown(told["time"]));
  const level = LEVELS[Number(told["level"])] ?? shown(told["level"]);
  const rest = Object.entries(told)
    .filter(([name]) => !HIDDEN.has(name))
    .map(([name, value]) => `${name}=${shown(value)}`);
  const text = [level.padEnd(5), shown(told["msg"] ?? told["message"]), ...rest].join(" ");
  return { at: Number.isNaN(at) ? null : at, text: visible(text) };
}

/** `2026-11-25 14:03:07.123` in UTC, or as many blanks. */
export function logTime(at: number | null): string {
  return at === null ? " ".repeat(23) : new Date(at).toISOString().replace("T", " ").slice(0, 23);
}

function parse(line: string): Record<string, unknown> | null {
  if (!line.startsWith("{")) return null;
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** Engines write RFC 3339, or `2026/11/25 14:03:07`. */
function timeIn(line: string): number | null {
  const found =
    /\d{4}[-/]\d{2}[-/]\d{2}[T ]\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?:Z|[+-]\d{2}:?\d{2})?/.exec(
      line,
    )?.[0];
  if (found === undefined) return null;
  const text = found.replaceAll("/", "-").replace(" ", "T").replace(",", ".");
  const at = Date.parse(/(?:Z|[+-]\d{2}:?\d{2})$/.test(text) ? text : `${text}Z`);
  return Number.isNaN(at) ? null : at;
}

function shown(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text.length > MAX_FIELD ? `${text.slice(0, MAX_FIELD)}…` : text;
}

/** Nothing that somebody made a part write moves the cursor or turns the line round. */
function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, (character) =>
    character === "\t" ? " " : `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}
