/** Files that others trust: written beside, synced, then given their name; the folder is synced by the caller or here. */
import { constants } from "node:fs";
import { link, open, readFile, rename, unlink } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Runs a write that needs room, again each time that room was made for it. What it runs is all or nothing, and safe to repeat after a
 * failure: a file begun anew, never a sync that failed, which may have lost what it was to keep.
 */
export type WithRoom = <T>(write: () => Promise<T>) => Promise<T>;

/** A disk, or its table of files, has no room left. */
export function isFullDisk(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOSPC";
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
export async function replaceFile(path: string, content: string | Buffer, mode: number): Promise<void> {
  const beside = `${path}.new`;
  await writeSynced(beside, content, mode);
  await rename(beside, path);
  await syncFolder(dirname(path));
}

/** An existing file held other bytes than the ones that must be there: the log was tampered with, or two auditd run. */
export class ImmutableFileError extends Error {
  override readonly name = "ImmutableFileError";
  readonly code = "log_conflict";
}

/**
 * Gives `path` this content unless it already has it; the content is durable when it resolves, its name once the folder is synced.
 * @throws {@link ImmutableFileError} when the file exists with other bytes
 */
export async function writeImmutable(path: string, content: Buffer): Promise<void> {
  const beside = `${path}.new`;
  await writeSynced(beside, content, 0o440);
  try {
    await link(beside, path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    if (!(await readFile(path)).equals(content)) throw new ImmutableFileError(`${path} exists with other bytes`);
  } finally {
    await unlink(beside);
  }
}

async function writeSynced(path: string, content: string | Buffer, mode: number): Promise<void> {
  await unlinkIfPresent(path);
  const handle = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode);
  try {
    // Whatever the umask: the mode is part of what is trusted.
    await handle.chmod(mode);
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function unlinkIfPresent(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  }
}
