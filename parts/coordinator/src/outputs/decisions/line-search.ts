/** Finds lines with a text in what members printed, block by block, with the lines around. Pure: it is handed bytes and keeps few of them. */
import { wholeCharacters } from "./whole-characters.ts";

export type LineQuery = {
  text: string;
  isCaseSensitive: boolean;
  /** Matches that are counted and not kept. */
  skip: number;
  /** Matches that are kept behind those. */
  limit: number;
  /** Lines around a match, on each side. */
  context: number;
};
export type FoundLine = {
  /** From 1, over all logs together. */
  number: number;
  /** Whose log. */
  log: string;
  /** Where the line begins, in bytes. */
  offset: number;
  line: string;
  before: string[];
  after: string[];
};

const LINE_FEED = 10;
/** A line that is longer is searched in parts. */
const MAX_LINE_BYTES = 1024 * 1024;
/** Of a line that is shown. */
const MAX_SHOWN_BYTES = 1024;
/** Shown in front of a match in a long line. */
const LEAD_BYTES = 256;

type Find = (from: number) => number;

export class LineSearch {
  readonly found: FoundLine[] = [];
  /** Lines that match so far. */
  total = 0;
  readonly #query: LineQuery;
  readonly #finderOf: (block: Buffer) => Find;
  #log = "";
  /** Of the log: where `#rest` begins. */
  #offset = 0;
  /** The line that has not ended yet. */
  #rest: Buffer = Buffer.alloc(0);
  /** The last lines before `#rest`. */
  #before: string[] = [];
  /** Matches that wait for lines behind them. */
  #open: FoundLine[] = [];

  constructor(query: LineQuery) {
    this.#query = query;
    this.#finderOf = finderOf(query);
  }

  /** What comes now is of this log, from its beginning. */
  begin(log: string): void {
    this.end();
    this.#log = log;
  }

  take(bytes: Buffer): void {
    const block = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const whole = block.lastIndexOf(LINE_FEED) + 1;
    const cut = whole === 0 && block.length > MAX_LINE_BYTES ? block.length : whole;
    if (cut > 0) this.#search(block.subarray(0, cut));
    this.#rest = block.subarray(cut);
  }

  /** The log ends here, also in the middle of a line. */
  end(): void {
    if (this.#rest.length > 0) this.#search(this.#rest);
    this.#rest = Buffer.alloc(0);
    this.#offset = 0;
    this.#before = [];
    this.#open = [];
  }

  #search(block: Buffer): void {
    const { context, skip, limit } = this.#query;
    if (this.#open.length > 0) this.#giveLinesBehind(block);
    const find = this.#finderOf(block);
    for (let at = find(0); at >= 0; ) {
      const start = startOfLine(block, at);
      const end = endOfLine(block, at);
      this.total += 1;
      if (this.total > skip && this.found.length < limit) {
        const own = linesBefore(block, start, context);
        const one = {
          ...{ number: this.total, log: this.#log, offset: this.#offset + start },
          line: shown(block.subarray(start, end), at - start),
          before: lastOf([...this.#before, ...own], context),
          after: linesAfter(block, end + 1, context),
        };
        this.found.push(one);
        if (one.after.length < context) this.#open.push(one);
      }
      at = end + 1 < block.length ? find(end + 1) : -1;
    }
    const last = linesBefore(block, block.length, context);
    this.#before = lastOf([...this.#before, ...last], context);
    this.#offset += block.length;
  }

  #giveLinesBehind(block: Buffer): void {
    const { context } = this.#query;
    const lines = linesAfter(block, 0, context);
    for (const one of this.#open) one.after.push(...lines.slice(0, context - one.after.length));
    this.#open = this.#open.filter(({ after }) => after.length < context);
  }
}

/** Answers with the place of the next match from a place on, or -1. Inside a line where the text has letters beyond ASCII, with its beginning. */
function finderOf({ text, isCaseSensitive }: LineQuery): (block: Buffer) => Find {
  const bytes = Buffer.from(text, "utf8");
  if (isCaseSensitive)
    return (block) => (from) => (from >= block.length ? -1 : block.indexOf(bytes, from));
  const isAscii = bytes.length === text.length;
  if (isAscii) {
    // As Latin-1 each byte is one character, and no byte of a longer character of UTF-8 is one of ASCII.
    const wanted = text.toLowerCase();
    return (block) => {
      const lower = block.toString("latin1").toLowerCase();
      return (from) => lower.indexOf(wanted, from);
    };
  }
  const wanted = text.toLowerCase();
  return (block) => (from) => {
    for (let start = from; start < block.length; ) {
      const end = endOfLine(block, start);
      if (block.toString("utf8", start, end).toLowerCase().includes(wanted)) return start;
      start = end + 1;
    }
    return -1;
  };
}

function lastOf<T>(list: readonly T[], count: number): T[] {
  return list.slice(Math.max(0, list.length - count));
}

function startOfLine(block: Buffer, at: number): number {
  return at === 0 ? 0 : block.lastIndexOf(LINE_FEED, at - 1) + 1;
}

function endOfLine(block: Buffer, at: number): number {
  const end = block.indexOf(LINE_FEED, at);
  return end < 0 ? block.length : end;
}

/** @param start where a line begins, or the end of the block */
function linesBefore(block: Buffer, start: number, count: number): string[] {
  const lines: string[] = [];
  for (let end = start; lines.length < count && end > 0; ) {
    const stop = block[end - 1] === LINE_FEED ? end - 1 : end;
    const begin = startOfLine(block, stop);
    lines.unshift(shown(block.subarray(begin, stop), 0));
    end = begin;
  }
  return lines;
}

function linesAfter(block: Buffer, start: number, count: number): string[] {
  const lines: string[] = [];
  for (let at = start; lines.length < count && at < block.length; ) {
    const end = endOfLine(block, at);
    lines.push(shown(block.subarray(at, end), 0));
    at = end + 1;
  }
  return lines;
}

/** The line, or the part of a long one around a place of it. */
function shown(line: Buffer, at: number): string {
  if (line.length <= MAX_SHOWN_BYTES) return line.toString("utf8");
  const from = Math.max(0, Math.min(at - LEAD_BYTES, line.length - MAX_SHOWN_BYTES));
  const { text } = wholeCharacters(line.subarray(from, from + MAX_SHOWN_BYTES), false);
  return `${from > 0 ? "[…] " : ""}${text}${from + MAX_SHOWN_BYTES < line.length ? " […]" : ""}`;
}
