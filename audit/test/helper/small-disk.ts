/** Disks of a few bytes, for what happens when they are full. */
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { temporaryFolder } from "@resontech/house/temporary-folder";

/** Whether a test may have a disk of its own; else it says what it lacks. */
export const lacksMount: string | false =
  process.getuid?.() === 0 &&
  spawnSync("/usr/bin/unshare", ["--mount", "/usr/bin/true"]).status === 0
    ? false
    : "needs the right to mount";

/** A folder that is a file system of so many bytes, and goes with the test. */
export class SmallDisk {
  readonly folder: string;

  /** @param inodes files and folders that it has room for, unlimited unless said */
  constructor(t: Test, sizeBytes: number, inodes = 0) {
    this.folder = join(temporaryFolder(t), "disk");
    mkdirSync(this.folder);
    this.#mount("-t", "tmpfs", "-o", `size=${sizeBytes},nr_inodes=${inodes}`, "tmpfs", this.folder);
    t.teardown(() => spawnSync("/usr/bin/umount", [this.folder]));
  }

  resize(sizeBytes: number): void {
    this.#mount("-o", `remount,size=${sizeBytes}`, this.folder);
  }

  #mount(...args: string[]): void {
    const { status, stderr } = spawnSync("/usr/bin/mount", args, { encoding: "utf8" });
    if (status !== 0) throw new Error(`mount ${args.join(" ")}: ${stderr}`);
  }
}
