/** Rows of a log as somebody wants to see it: filtered, with what the framework says folded away. Pure. */
import { type Level, LEVELS, parsedLine, type ParsedLine } from "./parsed-line.ts";

export type LogFilter = {
  /** Less is left out. */
  level: Level;
  /** Unix milliseconds; null: from the beginning, to the end. */
  from: number | null;
  to: number | null;
  /** Whether what NVFlare says stands among the rest. */
  areFoldsOpen: boolean;
};
export const NO_FILTER: LogFilter = { level: "debug", from: null, to: null, areFoldsOpen: false };

/** `line`: its place in the list. A fold is known by the number of its first line, which stays. */
export type LogRow =
  | { kind: "line"; line: number; text: string; level: Level | null }
  | { kind: "fold"; line: number; number: number; count: number; isOpen: boolean };

/** Fewer hide nothing that is worth a click. */
const LEAST_FOLDED = 3;

/** Parses each line once, however often rows are made of it: a log grows at its end. */
export class ParsedLines {
  #parsed: ParsedLine[] = [];
  #raw: string[] = [];
  #dropped = 0;

  /** @param dropped lines that went from the front since the first one */
  of(lines: readonly string[], dropped: number): readonly ParsedLine[] {
    const gone = dropped - this.#dropped;
    this.#parsed.splice(0, gone);
    this.#raw.splice(0, gone);
    this.#dropped = dropped;
    this.#parsed.length = Math.min(this.#parsed.length, lines.length);
    for (const [at, line] of lines.entries())
      if (this.#raw[at] !== line || this.#parsed[at] === undefined) {
        this.#raw[at] = line;
        this.#parsed[at] = parsedLine(line);
      }
    return this.#parsed;
  }
}

/** @param dropped numbers lines @param opened folds that somebody opened, by number @param marked a line that is shown in any case */
export function rowsOf(
  parsed: readonly ParsedLine[],
  dropped: number,
  filter: LogFilter,
  opened: ReadonlySet<number>,
  marked?: number,
): LogRow[] {
  const least = LEVELS.indexOf(filter.level);
  const rows: LogRow[] = [];
  let fold: { line: number; text: string; level: Level | null }[] = [];
  let [level, at, isNvflare]: [Level, number | null, boolean] = ["info", null, false];
  const close = () => {
    const [first] = fold;
    if (first === undefined) return;
    const isShort = fold.length < LEAST_FOLDED;
    const number = dropped + first.line;
    const isOpen =
      opened.has(number) || fold.some(({ line }) => line === marked) || filter.areFoldsOpen;
    if (!isShort && !filter.areFoldsOpen)
      rows.push({ kind: "fold", line: first.line, number, count: fold.length, isOpen });
    if (isShort || isOpen) for (const one of fold) rows.push({ kind: "line", ...one });
    fold = [];
  };
  for (const [line, one] of parsed.entries()) {
    if (one.at !== null) [level, at, isNvflare] = [one.level ?? "info", one.at, one.isNvflare];
    else if (one.level !== null) [level, isNvflare] = [one.level, false];
    // An empty line goes with what stands around it; a print of the job's code is no word of the framework.
    else if (one.text.trim() !== "") {
      isNvflare = false;
      if (LEVELS.indexOf(level) < LEVELS.indexOf("warning")) level = "info";
    }
    const isIn =
      LEVELS.indexOf(level) >= least &&
      (filter.from === null || (at !== null && at >= filter.from)) &&
      (filter.to === null || (at !== null && at <= filter.to));
    if (!isIn && line !== marked) continue;
    const row = { line, text: one.text, level: one.level };
    if (isNvflare) fold.push(row);
    else {
      close();
      rows.push({ kind: "line", ...row });
    }
  }
  close();
  return rows;
}

/** Whether anything can be filtered by time at all. */
export function hasTimes(parsed: readonly ParsedLine[]): boolean {
  return parsed.some(({ at }) => at !== null);
}
