/** One file system of limited size for each member: everything that its container may write lies on it. */
import { execFile } from "node:child_process";
import { chownSync, closeSync, existsSync, ftruncateSync, mkdirSync, openSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Writable by the job, each a mount of its container. */
export const WRITABLE = ["payload", "out", "tmp", "workspace", "events"] as const;

export class MemberFilesystem {
  readonly #image: string;
  readonly mountPoint: string;

  constructor(memberDir: string) {
    this.#image = join(memberDir, "disk.img");
    this.mountPoint = join(memberDir, "disk");
  }

  path(part: (typeof WRITABLE)[number], ...rest: string[]): string {
    return join(this.mountPoint, part, ...rest);
  }

  get isMounted(): boolean {
    return readFileSync("/proc/self/mounts", "utf8").includes(` ${this.mountPoint} `);
  }

  /** Makes and mounts it; safe to repeat. The file is sparse: it takes what is written, never more than `sizeBytes`. */
  async create(sizeBytes: number, uid: number): Promise<void> {
    if (!this.isMounted) {
      if (!existsSync(this.#image)) {
        const beside = `${this.#image}.part`;
        const fd = openSync(beside, "w", 0o600);
        ftruncateSync(fd, sizeBytes);
        closeSync(fd);
        // No journal and lazy tables: the file system lives as long as its member and is never recovered.
        await run("mkfs.ext4", ["-q", "-m", "0", "-O", "^has_journal", "-E", `root_owner=0:0,lazy_itable_init=1`, beside]);
        await run("mv", ["-T", beside, this.#image]);
      }
      mkdirSync(this.mountPoint, { recursive: true });
      await run("mount", ["-o", "loop,nosuid,nodev,noatime", this.#image, this.mountPoint]);
    }
    for (const part of WRITABLE) {
      mkdirSync(this.path(part), { recursive: true });
      chownSync(this.path(part), uid, uid);
    }
  }

  /** True when the member has used up what it was given (less than 1 MiB or no inode left). */
  get isFull(): boolean {
    if (!this.isMounted) return false;
    const { bavail, bsize, ffree } = statfsSync(this.mountPoint);
    return bavail * bsize < 1024 * 1024 || ffree === 0;
  }

  /** Unmounts and deletes; true when nothing is left. */
  async remove(): Promise<boolean> {
    if (this.isMounted) await run("umount", [this.mountPoint]);
    rmSync(this.#image, { force: true });
    rmSync(this.mountPoint, { recursive: true, force: true });
    return !this.isMounted && !existsSync(this.#image);
  }
}
