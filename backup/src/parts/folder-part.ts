/** Folders as tar archives, with owners and modes. What is neither a file nor a folder, like a socket, stays behind. */
import { constants } from "node:fs";
import { lstat, mkdir, open, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncFolder } from "@resontech/frame/durable-file";
import { BackupError } from "../backup-error.ts";
import { openHeld, readHeld } from "./held-file.ts";
import type { Part } from "./part.ts";
import {
  BLOCK_BYTES,
  END_OF_ARCHIVE,
  paddingOf,
  readTarHeader,
  tarHeader,
  type TarEntry,
} from "./ustar.ts";

/** @param skips told of each path below the folder, relative to it; what it names stays behind with all that is below */
export function folderPart(
  { name, path, folder }: { name: string; path: string; folder: string },
  skips: (path: string) => boolean = () => false,
): Part {
  return { name, path, kind: "folder", open: () => packFolder(folder, skips) };
}

/** @throws BackupError `backup_source` */
export async function* packFolder(
  folder: string,
  skips: (path: string) => boolean,
): AsyncGenerator<Buffer> {
  yield* packBelow(folder, "", skips);
  yield END_OF_ARCHIVE;
}

async function* packBelow(
  root: string,
  below: string,
  skips: (path: string) => boolean,
): AsyncGenerator<Buffer> {
  for (const name of (await readdir(join(root, below))).sort()) {
    const path = below === "" ? name : `${below}/${name}`;
    if (skips(path)) continue;
    const found = await lstat(join(root, path)).catch(() => null);
    if (found?.isDirectory() === true) {
      yield headerOf(path, "folder", found);
      yield* packBelow(root, path, skips);
    } else if (found?.isFile() === true) yield* packFile(root, path);
  }
}

async function* packFile(root: string, path: string): AsyncGenerator<Buffer> {
  const handle = await openHeld(join(root, path)).catch((error: unknown) => {
    // It was removed meanwhile, as state of a process may be at any time.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  });
  if (handle === null) return;
  try {
    const found = await handle.stat();
    yield headerOf(path, "file", found);
    yield* readHeld(handle, found.size);
    yield paddingOf(found.size);
  } finally {
    await handle.close();
  }
}

function headerOf(
  path: string,
  kind: TarEntry["kind"],
  found: { size: number; mode: number; uid: number; gid: number; mtimeMs: number },
): Buffer {
  const { mode, uid, gid, mtimeMs } = found;
  const sizeBytes = kind === "folder" ? 0 : found.size;
  try {
    return tarHeader({ path, kind, sizeBytes, mode, uid, gid, mtimeS: mtimeMs / 1000 });
  } catch (cause) {
    throw new BackupError(
      "backup_source",
      `${path} can't be kept: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
}

/** Who owns what is unpacked, where that is not what the archive says. */
export type OwnedBy = { uid: number; gid: number };

/**
 * Unpacks into a folder that is root's alone and has nothing of these names yet; synced when it resolves.
 * @throws BackupError `backup_damaged`
 */
export async function unpackFolder(
  source: AsyncIterable<Uint8Array>,
  folder: string,
  owner: OwnedBy | null = null,
): Promise<void> {
  const reader = new BlockReader(source);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const folders: TarEntry[] = [];
  for (;;) {
    const entry = readEntry(await reader.take(BLOCK_BYTES));
    if (entry === null) break;
    const path = join(folder, entry.path);
    if (entry.kind === "folder") {
      await mkdir(path, { recursive: true, mode: 0o700 });
      folders.push(entry);
      continue;
    }
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeEntry(path, entry, owner, reader);
  }
  // Innermost first: a folder that its owner alone may enter is ours until all is in it.
  for (const entry of folders.reverse())
    await reconcileFolder(join(folder, entry.path), owner ?? entry, entry.mode);
  await syncFolder(folder);
  // Whoever hashes the archive sees all of it.
  await reader.skipRest();
}

async function writeEntry(
  path: string,
  entry: TarEntry,
  owner: OwnedBy | null,
  reader: BlockReader,
): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
  const handle = await open(path, flags, 0o600);
  try {
    for await (const bytes of reader.stream(entry.sizeBytes)) await handle.appendFile(bytes);
    await reader.take(paddingOf(entry.sizeBytes).length);
    const { uid, gid } = owner ?? entry;
    await handle.chown(uid, gid);
    await handle.chmod(entry.mode);
    await handle.utimes(entry.mtimeS, entry.mtimeS);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function reconcileFolder(path: string, { uid, gid }: OwnedBy, mode: number): Promise<void> {
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await handle.chown(uid, gid);
    await handle.chmod(mode);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function readEntry(header: Buffer): TarEntry | null {
  try {
    return readTarHeader(header);
  } catch (cause) {
    throw new BackupError(
      "backup_damaged",
      `an archive can't be read: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
}

/** Bytes of a stream as many as are asked for. */
class BlockReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #held: Uint8Array = Buffer.alloc(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async take(count: number): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    for await (const part of this.stream(count)) parts.push(part);
    return Buffer.concat(parts);
  }

  async skipRest(): Promise<void> {
    for (
      let next = await this.#source.next();
      next.done !== true;
      next = await this.#source.next()
    );
  }

  /** @throws BackupError where there are fewer */
  async *stream(count: number): AsyncGenerator<Uint8Array> {
    for (let left = count; left > 0; ) {
      if (this.#held.length === 0) {
        const { value, done } = await this.#source.next();
        if (done === true) throw new BackupError("backup_damaged", "an archive ends too early");
        this.#held = value;
        continue;
      }
      const part = this.#held.subarray(0, left);
      this.#held = this.#held.subarray(part.length);
      left -= part.length;
      yield part;
    }
  }
}
