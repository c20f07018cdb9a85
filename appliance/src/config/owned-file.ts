import { chmodSync, chownSync, closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";

export type Owner = { uid: number; gid: number };
export const ROOT: Owner = { uid: 0, gid: 0 };

/** Writes beside, sets owner and mode, syncs, renames, syncs the folder: a reader sees the old file or the whole new one. */
export function writeOwned(file: string, bytes: string | Uint8Array, owner: Owner, mode: number): void {
  const beside = `${file}.part`;
  const fd = openSync(beside, "w", mode);
  try {
    // Before the first byte, so that a secret is never in a file that others may open.
    chmodSync(beside, mode);
    chownSync(beside, owner.uid, owner.gid);
    writeSync(fd, typeof bytes === "string" ? Buffer.from(bytes) : bytes);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(beside, file);
  syncFolder(dirname(file));
}

/** Makes the folder if need be and sets owner and mode either way. */
export function ensureFolder(folder: string, owner: Owner, mode: number): void {
  if (!existsSync(folder)) mkdirSync(folder, { recursive: true });
  chownSync(folder, owner.uid, owner.gid);
  chmodSync(folder, mode);
}

function syncFolder(folder: string): void {
  const fd = openSync(folder, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
