/** A file system of limited size under one of an appliance's folders: a file that grows as it is written, mounted over the folder. */
import { execFileSync } from "node:child_process";
import { closeSync, openSync, rmSync, statfsSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";

const MIB = 1024 ** 2;

export class SmallDisk implements Disposable {
  readonly #image: string;
  readonly #folder: string;
  readonly #filler: string;

  private constructor(image: string, folder: string) {
    this.#image = image;
    this.#folder = folder;
    this.#filler = join(folder, "filler");
  }

  /**
   * Moves what the folder holds onto it; whoever works in the folder is stopped.
   * @param work an empty folder for the file itself
   */
  static under(folder: string, sizeBytes: number, work: string): SmallDisk {
    const image = join(work, "disk.img");
    execFileSync("truncate", ["--size", String(sizeBytes), image]);
    execFileSync("mkfs.ext4", ["-q", "-m", "0", image]);
    const beside = join(work, "mount");
    execFileSync("mkdir", [beside]);
    execFileSync("mount", ["-o", "loop", image, beside]);
    try {
      // Owner and mode of the folder itself go along.
      execFileSync("cp", ["--archive", "--no-target-directory", folder, beside]);
    } finally {
      execFileSync("umount", [beside]);
    }
    execFileSync("mount", ["-o", "loop", image, folder]);
    return new SmallDisk(image, folder);
  }

  /** Takes what is free until so much is left. */
  fillUntil(leftBytes: number): void {
    const { bavail, bsize } = statfsSync(this.#folder);
    const taken = statSync(this.#filler, { throwIfNoEntry: false })?.size ?? 0;
    execFileSync("fallocate", [
      "--length",
      String(taken + bavail * bsize - leftBytes),
      this.#filler,
    ]);
  }

  /** Takes all that is free, to the last block. */
  fill(): void {
    const { bavail, bsize } = statfsSync(this.#folder);
    execFileSync("fallocate", [
      "--length",
      String(Math.max(MIB, bavail * bsize - 64 * MIB)),
      this.#filler,
    ]);
    const fd = openSync(this.#filler, "a");
    try {
      for (const block of [Buffer.alloc(MIB), Buffer.alloc(4096)])
        try {
          while (true) writeSync(fd, block);
        } catch (error) {
          if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
        }
    } finally {
      closeSync(fd);
    }
  }

  free(): void {
    rmSync(this.#filler, { force: true });
  }

  [Symbol.dispose](): void {
    execFileSync("umount", [this.#folder]);
    rmSync(this.#image);
  }
}
