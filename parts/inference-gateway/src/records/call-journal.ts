/** The gateway's journal of calls: a file a day, of one JSON object a line. It only grows, and what was appended is on the disk. */
import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeNow } from "@resontech/frame/durable-file";
import { openCalls } from "./open-calls.ts";

export const JOURNAL_NAME = /^\d{4}-\d{2}-\d{2}\.ndjson$/;
/** A call lasts minutes: what is open stands in the last two files. */
const FILES_READ = 2;

export class CallJournal implements AsyncDisposable {
  readonly #folder: string;
  readonly #now: () => Date;
  #file: { name: string; handle: FileHandle } | null = null;

  private constructor(folder: string, now: () => Date) {
    this.#folder = folder;
    this.#now = now;
  }

  /** @returns the journal, and the calls that an earlier life began and did not end */
  static async open(
    folder: string,
    now: () => Date = () => new Date(),
  ): Promise<{ journal: CallJournal; open: string[] }> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const names = (await readdir(folder)).filter((name) => JOURNAL_NAME.test(name)).sort();
    const texts = await Promise.all(
      names.slice(-FILES_READ).map((name) => readFile(join(folder, name), "utf8")),
    );
    return {
      journal: new CallJournal(folder, now),
      open: openCalls(texts.flatMap((text) => text.split("\n"))),
    };
  }

  /** Resolves once the text is on the disk. One call at a time. @throws what the disk says */
  async append(text: string): Promise<void> {
    const handle = await this.#today();
    writeNow(handle.fd, Buffer.from(text, "utf8"), null);
    await handle.datasync();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file?.handle.close();
    this.#file = null;
  }

  async #today(): Promise<FileHandle> {
    const name = `${this.#now().toISOString().slice(0, 10)}.ndjson`;
    if (this.#file?.name === name) return this.#file.handle;
    await this.#file?.handle.close();
    const flags = constants.O_CREAT | constants.O_RDWR | constants.O_APPEND;
    const handle = await open(join(this.#folder, name), flags, 0o600);
    this.#file = { name, handle };
    await endLine(handle);
    // A file that a crash took back would take its batches along.
    const folder = await open(this.#folder, constants.O_RDONLY);
    await folder.sync();
    await folder.close();
    return handle;
  }
}

/** What a cut write left becomes a line of its own, which counts as none. */
async function endLine(handle: FileHandle): Promise<void> {
  const { size } = await handle.stat();
  if (size === 0) return;
  const last = Buffer.alloc(1);
  await handle.read(last, 0, 1, size - 1);
  if (last[0] !== "\n".charCodeAt(0)) await handle.appendFile("\n");
}
