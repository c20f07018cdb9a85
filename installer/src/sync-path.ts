import { closeSync, fsyncSync, openSync } from "node:fs";

/** Makes a file's content, or a folder's list of entries, outlive a power cut. */
export function syncPath(path: string): void {
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
