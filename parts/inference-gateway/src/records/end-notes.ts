/**
 * How calls ended, from the moment that it is known until the journal has it: a batch of the log is not made for each of them. What is written here is
 * with the kernel, not on the disk: it outlives the gateway, not the host.
 */
import { closeSync, constants, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type CallEnded, readCallLine } from "./call-line.ts";

const NAME = "ends.ndjson";
/** Bytes that may lie here though the journal has all of them: to cut a file after each batch costs more than to read it at a start. */
const MOST_KEPT_BYTES = 256 * 1024;

export class EndNotes implements Disposable {
  readonly #file: number;
  readonly #mostKeptBytes: number;
  #bytes: number;

  private constructor(file: number, bytes: number, mostKeptBytes: number) {
    this.#file = file;
    this.#bytes = bytes;
    this.#mostKeptBytes = mostKeptBytes;
  }

  /**
   * @param folder of the journal
   * @returns with it what an earlier life noted, of which the journal may have some or all
   */
  static open(
    folder: string,
    mostKeptBytes = MOST_KEPT_BYTES,
  ): { notes: EndNotes; left: Map<string, CallEnded> } {
    const path = join(folder, NAME);
    const file = openSync(path, constants.O_CREAT | constants.O_RDWR | constants.O_APPEND, 0o600);
    const left = new Map<string, CallEnded>();
    const noted = readFileSync(path, "utf8");
    for (const text of noted.split("\n")) {
      const line = text === "" ? null : readCallLine(text);
      if (line?.kind === "end") left.set(line.id, line);
    }
    // What a cut write left becomes a line of its own.
    if (noted !== "" && !noted.endsWith("\n")) writeSync(file, "\n");
    const bytes = Buffer.byteLength(noted) + 1;
    return { notes: new EndNotes(file, bytes, mostKeptBytes), left };
  }

  /** @param text of a call's end, as a line of the journal @throws what the disk says */
  note(text: string): void {
    this.#bytes += writeSync(this.#file, `${text}\n`);
  }

  /** The journal has all of them: once they are many they go. @throws what the disk says */
  settle(): void {
    if (this.#bytes <= this.#mostKeptBytes) return;
    ftruncateSync(this.#file, 0);
    this.#bytes = 0;
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }
}
