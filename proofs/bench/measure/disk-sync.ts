import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

const BYTES = 4_096;

/**
 * How long this disk takes to keep a small piece of a growing file, milliseconds each: what nobody who keeps a record before answering can be faster than.
 * @param folder on the disk
 */
export function timeDiskSyncs(folder: string, times: number): number[] {
  const file = join(folder, "disk-sync");
  const fd = openSync(file, "w");
  try {
    const piece = Buffer.alloc(BYTES, 1);
    return Array.from({ length: times }, () => {
      writeSync(fd, piece);
      const from = performance.now();
      fdatasyncSync(fd);
      return performance.now() - from;
    });
  } finally {
    closeSync(fd);
    rmSync(file);
  }
}
