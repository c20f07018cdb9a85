/** As durable-file.ts, for who goes on only when it is on the disk: the whole process waits meanwhile. */
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";

/**
 * Writes beside, sets owner and mode, syncs, renames, syncs the folder: a reader finds the old file or the whole new one, also after a power cut.
 * A file has one writer: `<path>.part` is its own, and what was left of it by one that was killed goes first.
 * @param owner without it, whoever runs this process
 */
export function replaceFileNow(
  path: string,
  content: string | Uint8Array,
  mode: number,
  owner?: { uid: number; gid: number },
): void {
  const beside = `${path}.part`;
  rmSync(beside, { force: true });
  const fd = openSync(beside, "wx", 0o600);
  try {
    // Before the first byte, so that a secret is never in a file that others may open.
    fchmodSync(fd, mode);
    if (owner !== undefined) fchownSync(fd, owner.uid, owner.gid);
    writeFileSync(fd, content);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(beside, path);
  syncNow(dirname(path));
}

/** Takes a file away for good: after a power cut it is not back. A file that is not there is away already. */
export function removeFileNow(path: string): void {
  rmSync(path, { force: true });
  syncNow(dirname(path));
}

/** Makes a file's content, or a folder's list of entries, outlive a power cut. */
export function syncNow(path: string): void {
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
