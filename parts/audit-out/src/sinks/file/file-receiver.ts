/** A line for each event in files of a folder, synced before they count; whoever collects them removes the old ones. */
import { constants } from "node:fs";
import { type FileHandle, open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { syncFolder, writeFully } from "@resontech/frame/durable-file";
import type { ExportedEvent } from "../../formats/exported-event.ts";
import { type Receiver, ReceiverError } from "../receiver.ts";

const LINE_END = 0x0a;
const TAIL_BYTES = 65_536;
const INDEX_DIGITS = 16;

export type FileReceiverOptions = {
  folder: string;
  /** Of the sink: files of others may lie in the same folder. */
  name: string;
  rotateBytes: number;
  lineOf: (event: ExportedEvent) => string;
};

type OpenFile = { path: string; handle: FileHandle; bytes: number };

export class FileReceiver implements Receiver {
  readonly #options: FileReceiverOptions;
  #file: OpenFile | null;

  private constructor(options: FileReceiverOptions, file: OpenFile | null) {
    this.#options = options;
    this.#file = file;
  }

  /** Goes on with the newest file; half a line at its end, which a process that was killed left, is cut off. */
  static async open(options: FileReceiverOptions): Promise<FileReceiver> {
    try {
      const newest = await newestFile(options);
      if (newest === null) return new FileReceiver(options, null);
      const handle = await open(newest, constants.O_RDWR);
      const bytes = await cutHalfLine(handle);
      return new FileReceiver(options, { path: newest, handle, bytes });
    } catch (error) {
      throw new ReceiverError("unwritable", messageOf(error), { cause: error });
    }
  }

  async send(events: readonly ExportedEvent[]): Promise<void> {
    try {
      for (const event of events) {
        // At a line's end, so that every file can be read for itself.
        if (this.#file !== null && this.#file.bytes >= this.#options.rotateBytes)
          await this.#close();
        this.#file ??= await this.#begin(event);
        const line = Buffer.from(`${this.#options.lineOf(event)}\n`, "utf8");
        await writeFully(this.#file.handle, line, this.#file.bytes);
        this.#file.bytes += line.length;
      }
    } catch (error) {
      throw new ReceiverError("unwritable", messageOf(error), { cause: error });
    }
  }

  async confirm(): Promise<void> {
    try {
      if (this.#file !== null) await syncInPlace(this.#file);
    } catch (error) {
      throw new ReceiverError("unwritable", messageOf(error), { cause: error });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file?.handle.close();
    this.#file = null;
  }

  async #begin({ origin, index }: ExportedEvent): Promise<OpenFile> {
    const { folder, name } = this.#options;
    const shard = origin.slice(origin.lastIndexOf("/") + 1);
    const path = join(folder, `${name}-${shard}-${String(index).padStart(INDEX_DIGITS, "0")}.log`);
    const handle = await open(path, constants.O_RDWR | constants.O_CREAT, 0o640);
    await syncFolder(folder);
    return { path, handle, bytes: await cutHalfLine(handle) };
  }

  async #close(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    try {
      if (file !== null) await syncInPlace(file);
    } finally {
      await file?.handle.close();
    }
  }
}

/** What is written to a file that has lost its name is lost: it must still stand where its receiver looks for it. */
async function syncInPlace({ path, handle }: OpenFile): Promise<void> {
  await handle.sync();
  if ((await stat(path)).ino !== (await handle.stat()).ino)
    throw new Error(`${path} is another file now`);
}

async function newestFile({ folder, name }: FileReceiverOptions): Promise<string | null> {
  const pattern = new RegExp(
    `^${name}-([0-9]{4})(?:-([0-9]{1,4}))?-([0-9]{${INDEX_DIGITS}})\\.log$`,
  );
  const found = (await readdir(folder)).flatMap((file) => {
    const [, year, turn = "1", index] = pattern.exec(file) ?? [];
    return year === undefined ? [] : [{ file, order: `${year}-${turn.padStart(4, "0")}-${index}` }];
  });
  const newest = found.sort((a, b) => (a.order < b.order ? -1 : 1)).at(-1);
  return newest === undefined ? null : join(folder, newest.file);
}

/** @returns the length that is left */
async function cutHalfLine(handle: FileHandle): Promise<number> {
  let { size } = await handle.stat();
  const tail = Buffer.alloc(TAIL_BYTES);
  while (size > 0) {
    const from = Math.max(0, size - TAIL_BYTES);
    const { bytesRead } = await handle.read(tail, 0, size - from, from);
    const end = tail.subarray(0, bytesRead).lastIndexOf(LINE_END);
    if (end === bytesRead - 1) break;
    size = end === -1 ? from : from + end + 1;
    await handle.truncate(size);
  }
  return size;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
