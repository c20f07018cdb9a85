/**
 * Files that the job may write are a stranger's: any of them may be a link, a pipe, or gone a moment later, and so may each folder on the
 * way. A member's disk is a file system of its own: what is found beneath it without following a link, and is a regular file *on that
 * device*, is the member's own. Before that is known nothing is opened: to open a device of the host may set it off.
 */
import { closeSync, constants, fstatSync, openSync, statfsSync, statSync } from "node:fs";
import { relative, sep } from "node:path";
import type { JobFile } from "../../area.ts";

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
/** Linux: the descriptor only says which file it is. */
const O_PATH = 0o10000000;

export class MountedFile implements JobFile {
  readonly fd: number;
  readonly sizeBytes: number;

  private constructor(fd: number, sizeBytes: number) {
    this.fd = fd;
    this.sizeBytes = sizeBytes;
  }

  /** Null when there is no such file, it is none of the member's, or it says to be larger than the member's disk. */
  static open(mountPoint: string, path: string): MountedFile | null {
    const place = locate(mountPoint, path);
    if (place === null) return null;
    try {
      const found = fstatSync(place);
      const { blocks, bsize } = statfsSync(mountPoint);
      // A file with holes says any size at no cost; what it says is read, hashed and shipped.
      const isOwn =
        found.isFile() && found.dev === statSync(mountPoint).dev && found.size <= blocks * bsize;
      return isOwn
        ? new MountedFile(openSync(pathOf(place), O_RDONLY | O_NONBLOCK), found.size)
        : null;
    } finally {
      closeSync(place);
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.fd);
  }
}

/** The descriptor (O_PATH) of what a path leads to beneath a folder, be it a link itself; null when there is no such way without links. */
function locate(folder: string, path: string): number | null {
  const names = relative(folder, path).split(sep);
  if (names.includes("..")) return null;
  let place: number | null = null;
  try {
    place = openSync(folder, O_PATH | O_DIRECTORY);
    for (const [at, name] of names.entries()) {
      const isFolder = at < names.length - 1;
      const next = openSync(
        `${pathOf(place)}/${name}`,
        O_PATH | O_NOFOLLOW | (isFolder ? O_DIRECTORY : 0),
      );
      closeSync(place);
      place = next;
    }
    return place;
  } catch {
    if (place !== null) closeSync(place);
    return null;
  }
}

function pathOf(descriptor: number): string {
  return `/proc/self/fd/${descriptor}`;
}
