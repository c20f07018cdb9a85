/**
 * How calls ended, from the moment that it is known until the journal has it: a batch of the log is not made for each of them. What is written here is
 * with the kernel, not on the disk: it outlives the gateway, not the host.
 */
import { closeSync, constants, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type CallEnded, readCallLine } from "./call-line.ts";

const NAME = "ends.ndjson";

export class EndNotes implements Disposable {
  readonly #file: number;

  private constructor(file: number) {
    this.#file = file;
  }

  /**
   * @param folder of the journal
   * @returns with it what an earlier life noted, of which the journal may have some
   */
  static open(folder: string): { notes: EndNotes; left: Map<string, CallEnded> } {
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
    return { notes: new EndNotes(file), left };
  }

  /** @throws what the disk says */
  note(line: CallEnded): void {
    writeSync(this.#file, `${JSON.stringify(line)}\n`);
  }

  /** The journal has all of them. */
  clear(): void {
    ftruncateSync(this.#file, 0);
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }
}
