/**
 * Usage as the journal of calls has it: the last two days' files are read from their beginning, and then what grows. Nothing is kept beside the journal,
 * so a gateway that was killed comes to the same sums. Sums of whole days are told, so that to tell them twice changes nothing.
 */
import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { UsageRow } from "@resontech/contracts/gateway-numbers";
import { SharedRun } from "@resontech/frame/shared-run";
import { JOURNAL_NAME } from "../records/call-journal.ts";
import { readCallLine } from "../records/call-line.ts";
import { UsageTotals } from "./usage-totals.ts";

const READ_MS = 1_000;
/** A call lasts minutes, so what may change stands in the last two. */
const FILES_READ = 2;

export class JournalUsage implements AsyncDisposable {
  readonly #folder: string;
  readonly #totals = new UsageTotals();
  /** Where the next line of each file begins. */
  readonly #read = new Map<string, number>();
  readonly #runs = new SharedRun();
  readonly #timer: NodeJS.Timeout;

  /** @param onError a file can't be read; it is tried again */
  constructor(folder: string, onError: (error: unknown) => void) {
    this.#folder = folder;
    const look = () => void this.#runs.run(() => this.read().catch(onError));
    this.#timer = setInterval(look, READ_MS).unref();
    look();
  }

  /** See {@link UsageTotals}. */
  all(): UsageRow[] {
    return this.#totals.all();
  }

  changed(): UsageRow[] {
    return this.#totals.changed();
  }

  /** Takes the lines that have come since. @throws what the disk says */
  async read(): Promise<void> {
    const names = (await readdir(this.#folder)).filter((name) => JOURNAL_NAME.test(name)).sort();
    const newest = names.slice(-FILES_READ);
    for (const name of this.#read.keys()) if (!newest.includes(name)) this.#read.delete(name);
    for (const name of newest) await this.#readOn(name);
    const [oldest] = newest;
    if (oldest !== undefined) this.#totals.forgetBefore(oldest.slice(0, "2026-01-01".length));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#runs.idle();
  }

  /** Whole lines alone: what is being written is read once its end is there. */
  async #readOn(name: string): Promise<void> {
    const file = join(this.#folder, name);
    const from = this.#read.get(name) ?? 0;
    const { size } = await stat(file);
    if (size <= from) return;
    let rest: Buffer = Buffer.alloc(0);
    let next = from;
    for await (const piece of createReadStream(file, { start: from, end: size - 1 })) {
      rest = Buffer.concat([rest, piece as Buffer]);
      const end = rest.lastIndexOf("\n") + 1;
      for (const text of rest.subarray(0, end).toString("utf8").split("\n")) {
        const line = text === "" ? null : readCallLine(text);
        if (line !== null) this.#totals.take(line);
      }
      next += end;
      rest = rest.subarray(end);
      this.#read.set(name, next);
    }
  }
}
