/**
 * What opens the commitments of leaves, apart from them, until the vault has sealed it: `disclosures/<first index>.jsonl`, 0600, a line each, in
 * order of the leaves. Durable before the batch that its leaves are in, so a leaf never stands without it; lines of leaves that did not make it are
 * cut at start.
 *
 * Everything that touches the folder takes its turn in one queue: no line is written to a segment that is handed out or gone. A segment that the
 * vault has is renamed first, then overwritten: a start that finds the name goes on with that.
 */
import { constants } from "node:fs";
import {
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  unlink,
} from "node:fs/promises";
import { join } from "node:path";
import type { Disclosure } from "@resontech/contracts/audit-event";
import { syncFolder, type WithRoom, writeNow } from "@resontech/frame/durable-file";
import { Turns } from "@resontech/frame/turns";

/** The text of a segment, escaped once more in a reply, and one leaf's values beyond it stay below the frame limit; test/auditd/sidecar.test.ts pins it. */
const SEGMENT_BYTES = 4_194_304;
const FILE_NAME = /^[0-9]{16}\.jsonl$/;
const SEALED_SUFFIX = ".sealed";
const ZEROS = Buffer.alloc(65_536);

/** `month`: of the log's time, `YYYY-MM`; it and the subject choose the key. */
export type SidecarLine = Disclosure & { commitment: string; subject: string; month: string };
type Opened = { index: number; disclosures: readonly SidecarLine[] };
/** A segment that is written no more. */
export type Segment = { segment: string; text: string; lastIndex: number };

type Writing = { name: string; handle: FileHandle; bytes: number };

export class Sidecar {
  readonly #folder: string;
  readonly #withRoom: WithRoom;
  #writing: Writing | null = null;
  readonly #turns = new Turns();

  private constructor(folder: string, withRoom: WithRoom) {
    this.#folder = folder;
    this.#withRoom = withRoom;
  }

  /** Opens the sidecar of a log of `size` leaves. */
  static async open(folder: string, size: number, withRoom: WithRoom): Promise<Sidecar> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const sidecar = new Sidecar(folder, withRoom);
    for (const name of await readdir(folder))
      if (name.endsWith(SEALED_SUFFIX)) await sidecar.#overwrite(name);
    const names = await sidecar.#names();
    for (const [at, name] of names.entries()) {
      const next = names[at + 1];
      if (next === undefined || firstIndexOf(next) >= size) await cutFrom(join(folder, name), size);
    }
    return sidecar;
  }

  /** Appends what opens commitments of the leaf at `index`; durable when it resolves. Indices never decrease. */
  append(entries: readonly Opened[]): Promise<void> {
    return this.#turns.run(() => this.#append(entries));
  }

  /** The oldest segment; the one that is written is closed for it, if there is no other. Null when nothing waits for the vault. */
  oldest(): Promise<Segment | null> {
    return this.#turns.run(async () => {
      const [name] = await this.#names();
      if (name === undefined) return null;
      if (name === this.#writing?.name) await this.#closeWriting();
      const text = await readFile(join(this.#folder, name), "utf8");
      return {
        segment: name,
        text,
        lastIndex: indexOfLine(
          Buffer.from(text.slice(text.lastIndexOf("\n", text.length - 2) + 1)),
        ),
      };
    });
  }

  /** The vault has it for good: nothing of it stays here. One that is gone is. @throws RangeError for one that was never handed out */
  erase(segment: string): Promise<void> {
    return this.#turns.run(async () => {
      if (!FILE_NAME.test(segment) || segment === this.#writing?.name)
        throw new RangeError(`${segment} was not handed out`);
      if (!(await this.#names()).includes(segment)) return;
      const sealed = `${segment}${SEALED_SUFFIX}`;
      await rename(join(this.#folder, segment), join(this.#folder, sealed));
      await syncFolder(this.#folder);
      await this.#overwrite(sealed);
    });
  }

  close(): Promise<void> {
    return this.#turns.run(() => this.#closeWriting());
  }

  async #append(entries: readonly Opened[]): Promise<void> {
    let text = "";
    for (const { index, disclosures } of entries) {
      if (this.#writing !== null && this.#writing.bytes + text.length >= SEGMENT_BYTES) {
        await this.#write(text);
        text = "";
        await this.#closeWriting();
      }
      this.#writing ??= await this.#begin(index);
      for (const { field, subject, month, commitment, salt, value } of disclosures)
        text += `${JSON.stringify({ index, field, subject, month, commitment, salt, value })}\n`;
    }
    await this.#write(text);
  }

  async #write(text: string): Promise<void> {
    const writing = this.#writing;
    if (writing === null || text === "") return;
    const { handle, bytes } = writing;
    const content = Buffer.from(text, "utf8");
    let mayHaveLeftAPart = false;
    await this.#withRoom(async () => {
      if (mayHaveLeftAPart) await handle.truncate(bytes);
      mayHaveLeftAPart = true;
      writeNow(handle.fd, content, null);
    });
    await handle.datasync();
    writing.bytes += content.length;
  }

  async #begin(firstIndex: number): Promise<Writing> {
    const name = `${String(firstIndex).padStart(16, "0")}.jsonl`;
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_APPEND;
    const handle = await this.#withRoom(() => open(join(this.#folder, name), flags, 0o600));
    await syncFolder(this.#folder);
    return { name, handle, bytes: 0 };
  }

  async #closeWriting(): Promise<void> {
    await this.#writing?.handle.close();
    this.#writing = null;
  }

  /** In place: where the file system writes there, the blocks that it gives back hold zeros. */
  async #overwrite(name: string): Promise<void> {
    const path = join(this.#folder, name);
    const handle = await open(path, constants.O_RDWR);
    try {
      const { size } = await handle.stat();
      for (let at = 0; at < size; at += ZEROS.length)
        await handle.write(ZEROS, 0, Math.min(ZEROS.length, size - at), at);
      await handle.sync();
      await handle.truncate(0);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await unlink(path);
    await syncFolder(this.#folder);
  }

  /** Segments, oldest first. */
  async #names(): Promise<string[]> {
    return (await readdir(this.#folder)).filter((name) => FILE_NAME.test(name)).sort();
  }
}

function firstIndexOf(name: string): number {
  return Number(name.slice(0, 16));
}

/** Keeps the whole lines of leaves below `size`: lines are in order, so what goes is a tail. A segment without any goes. */
async function cutFrom(path: string, size: number): Promise<void> {
  const content = await readFile(path);
  let kept = 0;
  while (kept < content.length) {
    const end = content.indexOf(0x0a, kept);
    if (end === -1 || indexOfLine(content.subarray(kept, end)) >= size) break;
    kept = end + 1;
  }
  if (kept === 0) {
    await rm(path);
    return syncFolder(join(path, ".."));
  }
  if (kept === content.length) return;
  const handle = await open(path, constants.O_WRONLY);
  try {
    await handle.truncate(kept);
    // Their indices are given again: after a power cut they must not be back beside other leaves.
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

function indexOfLine(line: Buffer): number {
  const match = /^\{"index":([0-9]{1,16}),/.exec(line.subarray(0, 32).toString("latin1"));
  return match === null ? Number.POSITIVE_INFINITY : Number(match[1]);
}
