/** The file of login records and the older ones beside it. */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, lstat, open, readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { UTMP_BYTES } from "./decisions/utmp-record.ts";
import type { Position } from "./position-file.ts";

/** As logrotate names them: by number, or by date. What it compressed can't be read. */
const ROTATED = /^(?:\.[0-9]{1,4}|-[0-9][0-9-]{7,23})$/;

export type WtmpFile = { handle: FileHandle; inode: number };

/** Opens the file; null where there is none. @throws when it is a link or no regular file: some sites turn the records off that way */
export async function openWtmp(path: string): Promise<WtmpFile | null> {
  let handle: FileHandle;
  try {
    handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new Error(`${path} is no regular file`);
    return { handle, inode: stats.ino };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Answers the inode of a file; null where there is no such file. */
export async function inodeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).ino;
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

/** Bytes of whole records; a torn last one is completed, or cut off by the next that glibc writes. */
export async function wholeBytes({ handle }: WtmpFile): Promise<number> {
  const { size } = await handle.stat();
  return size - (size % UTMP_BYTES);
}

/** Tells whether this is the file that was read up to the position: by what stands before it, at the beginning by inode. */
export async function standsAt(
  file: WtmpFile,
  { inode, offset, lastSha256 }: Position,
): Promise<boolean> {
  if (lastSha256 === null) return file.inode === inode;
  const last = await recordBefore(file, offset);
  return last !== null && digestOf(last) === lastSha256;
}

/** Opens the file of the position; null where there is none, or it is not that file. @throws as {@link openWtmp} */
export async function openAt(path: string, position: Position): Promise<WtmpFile | null> {
  const file = await openWtmp(path);
  if (file === null) return null;
  let isThat = false;
  try {
    isThat = await standsAt(file, position);
    return isThat ? file : null;
  } finally {
    if (!isThat) await file.handle.close();
  }
}

/** The record that ends at `offset`; null where there is none. */
export async function recordBefore({ handle }: WtmpFile, offset: number): Promise<Buffer | null> {
  if (offset < UTMP_BYTES) return null;
  const record = Buffer.alloc(UTMP_BYTES);
  const { bytesRead } = await handle.read(record, 0, UTMP_BYTES, offset - UTMP_BYTES);
  return bytesRead === UTMP_BYTES ? record : null;
}

export function digestOf(record: Buffer): string {
  return createHash("sha256").update(record).digest("hex");
}

/** The older files, oldest first. */
export async function rotatedOf(path: string): Promise<{ path: string; inode: number }[]> {
  const name = basename(path);
  const found: { path: string; inode: number; mtimeMs: number }[] = [];
  for (const other of await readdir(dirname(path))) {
    if (!other.startsWith(name) || !ROTATED.test(other.slice(name.length))) continue;
    const older = join(dirname(path), other);
    try {
      const stats = await lstat(older);
      if (stats.isFile()) found.push({ path: older, inode: stats.ino, mtimeMs: stats.mtimeMs });
    } catch (error) {
      if (!isAbsent(error)) throw error;
    }
  }
  return found.sort((one, other) => one.mtimeMs - other.mtimeMs);
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
