/** Looks through every byte of every file below some folders for any of many strings of bytes. */
import { constants } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";

const CHUNK_BYTES = 1_048_576;
const PREFIX_BYTES = 4;
const MAX_PASSES = 20;

/** Keeps strings of bytes by their first ones, so that one pass looks for all of them. */
export class Needles {
  readonly #limit: number;
  readonly #byPrefix = new Map<number, Buffer[]>();
  #longest = 0;
  #count = 0;

  /** @param limit so many are kept, each for some 450 bytes of memory */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** One beyond the limit is left out. @throws RangeError for one of less than 16 bytes, which chance alone could bring */
  add(needle: Buffer): void {
    if (needle.length < 16) throw new RangeError("a needle of less than 16 bytes");
    if (this.isFull) return;
    const prefix = needle.readUInt32BE(0);
    const same = this.#byPrefix.get(prefix) ?? [];
    this.#byPrefix.set(prefix, [...same, needle]);
    this.#longest = Math.max(this.#longest, needle.length);
    this.#count += 1;
  }

  get count(): number {
    return this.#count;
  }

  get isFull(): boolean {
    return this.#count >= this.#limit;
  }

  get longest(): number {
    return this.#longest;
  }

  isIn(haystack: Buffer): boolean {
    let window = 0;
    for (let at = 0; at < haystack.length; at++) {
      window = ((window << 8) | haystack[at]!) >>> 0;
      const start = at - PREFIX_BYTES + 1;
      if (start < 0) continue;
      for (const needle of this.#byPrefix.get(window) ?? [])
        if (haystack.subarray(start, start + needle.length).equals(needle)) return true;
    }
    return false;
  }
}

/**
 * A file that goes while it is looked for may stand under another name by then: everything is looked through again.
 *
 * @returns the files that hold one
 * @throws what the disk says; ENOENT where files come and go without an end
 */
export async function filesWith(needles: Needles, folders: readonly string[]): Promise<string[]> {
  for (let passes = 1; ; passes++)
    try {
      return await lookThrough(needles, folders);
    } catch (error) {
      const isGone = error instanceof Error && "code" in error && error.code === "ENOENT";
      if (!isGone || passes === MAX_PASSES) throw error;
    }
}

async function lookThrough(needles: Needles, folders: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const folder of new Set(folders))
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (entry.isFile() && (await holds(path, needles))) found.push(path);
    }
  return found;
}

async function holds(path: string, needles: Needles): Promise<boolean> {
  await using handle = await open(path, constants.O_RDONLY);
  const chunk = Buffer.alloc(CHUNK_BYTES + needles.longest);
  let carried = 0;
  for (;;) {
    const { bytesRead } = await handle.read(chunk, carried, CHUNK_BYTES);
    if (bytesRead === 0) return false;
    const filled = chunk.subarray(0, carried + bytesRead);
    if (needles.isIn(filled)) return true;
    // A needle may lie across two reads.
    carried = Math.min(filled.length, Math.max(needles.longest - 1, 0));
    filled.copy(chunk, 0, filled.length - carried);
  }
}
