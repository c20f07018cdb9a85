import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { setInterval } from "node:timers/promises";
import { logTime, readLogLine } from "../status/decisions/log-line.ts";

export type LogFile = { part: string; file: string };

const CHUNK = 65_536;
/** The end of a log that is looked through for its last lines. */
const TAIL_BYTES = 8 * 1024 ** 2;
const LOOK_MS = 250;

/**
 * Says the last lines of some logs in the order of their times, then, if asked to follow, what comes, also in
 * the file that a rotation puts in its place, until `signal` fires or the process ends.
 */
export async function followLogs(
  files: readonly LogFile[],
  { follow, lines }: { follow: boolean; lines: number },
  say: (line: string) => void,
  signal?: AbortSignal,
): Promise<void> {
  const width = Math.max(0, ...files.map(({ part }) => part.length));
  const told = (part: string, line: string): { at: number | null; line: string } => {
    const { at, text } = readLogLine(line);
    return { at, line: `${logTime(at)} ${part.padEnd(width)} ${text}` };
  };
  const tails = files.map((file) => new LogTail(file));
  const last = tails.flatMap((tail) => {
    let before = 0;
    return tail.last(lines).map((line) => {
      const read = told(tail.part, line);
      // A line without a time belongs to the one before it.
      before = read.at ?? before;
      return { ...read, order: before };
    });
  });
  for (const { line } of last.toSorted((a, b) => a.order - b.order)) say(line);
  if (!follow) return;
  try {
    for await (const _ of setInterval(LOOK_MS, undefined, signal === undefined ? {} : { signal }))
      for (const tail of tails) for (const line of tail.next()) say(told(tail.part, line).line);
  } catch (error) {
    if (signal?.aborted !== true) throw error;
  }
}

/** Reads on in a file that grows, and in the new one that a rotation puts in its place. */
class LogTail {
  readonly part: string;
  readonly #file: string;
  #inode = 0;
  #at = 0;
  #rest = "";

  constructor({ part, file }: LogFile) {
    this.part = part;
    this.#file = file;
  }

  /** The last lines; {@link next} goes on behind them. */
  last(count: number): string[] {
    if (!existsSync(this.#file)) return [];
    const { size, ino } = statSync(this.#file);
    [this.#inode, this.#at] = [ino, Math.max(0, size - TAIL_BYTES)];
    const isCut = this.#at > 0;
    const lines = this.next();
    return (isCut ? lines.slice(1) : lines).slice(count === 0 ? lines.length : -count);
  }

  next(): string[] {
    if (!existsSync(this.#file)) return [];
    const fd = openSync(this.#file, "r");
    try {
      const { ino, size } = fstatSync(fd);
      if (ino !== this.#inode || size < this.#at)
        [this.#inode, this.#at, this.#rest] = [ino, 0, ""];
      const decoder = new StringDecoder("utf8");
      let text = this.#rest;
      const buffer = Buffer.alloc(CHUNK);
      for (let read = -1; read !== 0; ) {
        read = readSync(fd, buffer, 0, CHUNK, this.#at);
        this.#at += read;
        text += decoder.write(buffer.subarray(0, read));
      }
      const lines = text.split("\n");
      this.#rest = lines.pop() ?? "";
      return lines;
    } finally {
      closeSync(fd);
    }
  }
}
