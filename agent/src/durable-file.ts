import { closeSync, fsyncSync, openSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/** Writes beside, syncs, renames, syncs the folder: after a power cut a reader finds the old bytes or the new ones. */
export function replaceFile(file: string, bytes: string | Uint8Array, mode = 0o600): void {
  const beside = `${file}.part`;
  const fd = openSync(beside, "w", mode);
  try {
    writeSync(fd, typeof bytes === "string" ? Buffer.from(bytes) : bytes);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(beside, file);
  const folder = openSync(dirname(file), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
