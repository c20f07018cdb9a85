/** Files that others trust: written beside, synced, then given their name; the folder is synced by the caller or here. */
import { randomBytes } from "node:crypto";
import { constants, writeSync } from "node:fs";
import {
  type FileHandle,
  link,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  unlink,
} from "node:fs/promises";
import { dirname, join } from "node:path";

/** Of a file that is being written, after the name that it gets. */
const BESIDE = /^(.+)\.[0-9a-f]{16}\.new$/;

/**
 * Runs a write that needs room, again each time that room was made for it. What it runs is all or nothing, and safe to repeat after a
 * failure: a file begun anew, never a sync that failed, which may have lost what it was to keep.
 */
export type WithRoom = <T>(write: () => Promise<T>) => Promise<T>;

type Write = (handle: FileHandle) => Promise<void>;

/** A disk, its table of files, or what this user may take of it, has no room left. */
export function isFullDisk(error: unknown): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    (error.code === "ENOSPC" || error.code === "EDQUOT")
  );
}

/** A write that a full disk cuts short is continued, so that the disk itself says why. */
export async function writeFully(
  handle: FileHandle,
  bytes: Buffer,
  position: number,
): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const { bytesWritten } = await handle.write(
      bytes,
      written,
      bytes.length - written,
      position + written,
    );
    if (bytesWritten === 0) throw new Error(`wrote ${written} of ${bytes.length} bytes`);
    written += bytesWritten;
  }
}

/** Into memory of the kernel, at once: another thread would take longer to be woken than this takes. @param position null: at the end */
export function writeNow(fd: number, bytes: Buffer, position: number | null): void {
  for (let written = 0; written < bytes.length; ) {
    const count = writeSync(
      fd,
      bytes,
      written,
      bytes.length - written,
      position === null ? null : position + written,
    );
    if (count === 0) throw new Error(`wrote ${written} of ${bytes.length} bytes`);
    written += count;
  }
}

export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Replaces a file in one step, durable when it resolves. */
export async function replaceFile(
  path: string,
  content: string | Buffer,
  mode: number,
): Promise<void> {
  await replaceFileWith(path, mode, (handle) => handle.writeFile(content));
}

/** Works as {@link replaceFile} does, for a content that comes piece by piece. Where `write` rejects, what was there stays. */
export async function replaceFileWith(path: string, mode: number, write: Write): Promise<void> {
  const beside = besideOf(path);
  try {
    await writeSynced(beside, mode, write);
    await rename(beside, path);
  } catch (error) {
    await removeBeside(beside);
    throw error;
  }
  await syncFolder(dirname(path));
}

/**
 * Removes what writers left that were killed. What can't be removed harms nobody: no writer has its name.
 * @param options `of`: of this file alone. `olderThanMs`: where another process may be writing
 */
export async function removeLeftovers(
  folder: string,
  options: { of?: string; olderThanMs?: number } = {},
): Promise<void> {
  const { of, olderThanMs = 0 } = options;
  for (const name of await readdir(folder).catch(() => [])) {
    const [, file] = BESIDE.exec(name) ?? [];
    if (file === undefined || (of !== undefined && file !== of)) continue;
    const path = join(folder, name);
    const changedMs = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => Number.POSITIVE_INFINITY,
    );
    if (olderThanMs === 0 || Date.now() - changedMs > olderThanMs) await rm(path).catch(() => {});
  }
}

/** An existing file holds other bytes than the ones that must be there: somebody changed it, or two processes write. */
export class ImmutableFileError extends Error {
  override readonly name = "ImmutableFileError";
  readonly code = "log_conflict";
}

/**
 * Gives `path` this content unless it already has it; the content is durable when it resolves, its name once the folder is synced.
 * @throws {@link ImmutableFileError} when the file exists with other bytes
 */
export async function writeImmutable(path: string, content: Buffer): Promise<void> {
  const beside = besideOf(path);
  try {
    await writeNew(beside, content, 0o440);
    await link(beside, path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    if (!(await readFile(path)).equals(content))
      throw new ImmutableFileError(`${path} exists with other bytes`);
  } finally {
    await removeBeside(beside);
  }
}

/**
 * Makes a folder in one step, durable when it resolves: a failure leaves nothing of it. One that has something in it is not replaced.
 * @param fill given the folder that gets the name; its files are synced by then
 */
export async function makeFolder<T>(
  path: string,
  mode: number,
  fill: (folder: string) => Promise<T>,
): Promise<T> {
  const beside = besideOf(path);
  try {
    await mkdir(beside, { mode });
    const result = await fill(beside);
    await syncFolder(beside);
    await rename(beside, path);
    await syncFolder(dirname(path));
    return result;
  } catch (error) {
    await rm(beside, { recursive: true, force: true });
    throw error;
  }
}

/** A name of its own for each write: two writers never share a file, and none stumbles over what another one left. */
function besideOf(path: string): string {
  return `${path}.${randomBytes(8).toString("hex")}.new`;
}

/** One that was never made is gone as well. `rm` would ask for it first, and hold up the whole process meanwhile. */
async function removeBeside(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  });
}

/** A file that was not there yet; its name is durable once the folder is synced. */
export async function writeNew(
  path: string,
  content: string | Buffer,
  mode: number,
): Promise<void> {
  await writeSynced(path, mode, (handle) => handle.writeFile(content));
}

/** Nobody else reads what is half written. */
async function writeSynced(path: string, mode: number, write: Write): Promise<void> {
  const handle = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    await write(handle);
    // Whatever the umask: the mode is part of what is trusted.
    await handle.chmod(mode);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
