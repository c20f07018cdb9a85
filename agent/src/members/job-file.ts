/**
 * Files that the job may write are a stranger's: any of them may be a link, a pipe, or gone a moment later. A member's disk is a file
 * system of its own, so a descriptor that is a regular file *on that device* is the member's own, whatever path led there.
 */
import { closeSync, constants, fstatSync, openSync, statfsSync, statSync } from "node:fs";

/** A regular file of the job, open for reading; `sizeBytes` is what it had when it was opened. */
export class JobFile implements Disposable {
  readonly fd: number;
  readonly sizeBytes: number;

  private constructor(fd: number, sizeBytes: number) {
    this.fd = fd;
    this.sizeBytes = sizeBytes;
  }

  /** Null when there is no such file, it is none of the member's, or it says to be larger than the member's disk. */
  static open(mountPoint: string, path: string): JobFile | null {
    let fd: number;
    try {
      // Without O_NONBLOCK a pipe would hold the agent until somebody writes.
      fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    } catch {
      return null;
    }
    const found = fstatSync(fd);
    const { blocks, bsize } = statfsSync(mountPoint);
    // A file with holes says any size at no cost; what it says is read, hashed and shipped.
    const isOwn = found.isFile() && found.dev === statSync(mountPoint).dev && found.size <= blocks * bsize;
    if (isOwn) return new JobFile(fd, found.size);
    closeSync(fd);
    return null;
  }

  [Symbol.dispose](): void {
    closeSync(this.fd);
  }
}
