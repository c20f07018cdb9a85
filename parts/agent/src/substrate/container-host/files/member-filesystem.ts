/** One file system of limited size for each member: all that its container is given lies on it, so that mounts tell nothing of the host's folders. */
import { execFile } from "node:child_process";
import {
  chownSync,
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  rmdirSync,
  statfsSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Writable by the job, each a mount of its container. */
const WRITABLE = ["payload", "out", "tmp", "workspace", "events"] as const;
/** Root's: what is staged for the job to read, and what runs it. */
const READABLE = ["job", "model", "etc", "init", "runner"] as const;
/** Less than this is none: a write that failed has mostly filled what was left. */
const FULL_BYTES = 1024 * 1024;
/** `rt-init` and the runner, with room. */
const RUNNER_BYTES = 8 * 1024 * 1024;
/** Small enough that a shard of a million small files finds an inode for each in the smallest disk of 10 GiB. */
const BYTES_PER_INODE = 8192;

export class MemberFilesystem {
  readonly #image: string;
  readonly mountPoint: string;

  constructor(memberDir: string) {
    this.#image = join(memberDir, "disk.img");
    this.mountPoint = join(memberDir, "disk");
  }

  path(part: (typeof WRITABLE)[number] | (typeof READABLE)[number], ...rest: string[]): string {
    return join(this.mountPoint, part, ...rest);
  }

  get isMounted(): boolean {
    const own = statSync(this.mountPoint, { throwIfNoEntry: false });
    return own !== undefined && own.dev !== statSync(dirname(this.mountPoint)).dev;
  }

  /** Makes and mounts it; safe to repeat. The file is sparse: it takes what is written, never more than `sizeBytes` and what runs a job. */
  async create(sizeBytes: number, uid: number): Promise<void> {
    if (!this.isMounted) {
      if (!existsSync(this.#image)) await this.#format(sizeBytes);
      mkdirSync(this.mountPoint, { recursive: true, mode: 0o700 });
      await run("mount", ["-o", "loop,nosuid,nodev,noatime", this.#image, this.mountPoint]);
    }
    for (const part of READABLE) mkdirSync(this.path(part), { recursive: true, mode: 0o755 });
    for (const part of WRITABLE) {
      mkdirSync(this.path(part), { recursive: true });
      chownSync(this.path(part), uid, uid);
    }
  }

  /** True when the member has used up what it was given, in bytes or in files. */
  get isFull(): boolean {
    if (!this.isMounted) return false;
    const { bavail, bsize, ffree } = statfsSync(this.mountPoint);
    return bavail * bsize < FULL_BYTES || ffree === 0;
  }

  /** Unmounts and deletes; true when nothing is left. */
  async remove(): Promise<boolean> {
    if (this.isMounted) await run("umount", [this.mountPoint]);
    rmSync(this.#image, { force: true });
    rmSync(`${this.#image}.part`, { force: true });
    // Never recursive: should it be mounted after all, what is on it is not ours to walk through.
    if (existsSync(this.mountPoint)) rmdirSync(this.mountPoint);
    return !this.isMounted && !existsSync(this.#image);
  }

  async #format(sizeBytes: number): Promise<void> {
    const beside = `${this.#image}.part`;
    const fd = openSync(beside, "w", 0o600);
    ftruncateSync(fd, sizeBytes + RUNNER_BYTES);
    closeSync(fd);
    // No journal, lazy tables: it lives as long as its member and is never recovered.
    const options = [
      "-q",
      "-m",
      "0",
      "-i",
      String(BYTES_PER_INODE),
      "-O",
      "^has_journal",
      "-E",
      "root_owner=0:0,lazy_itable_init=1",
    ];
    await run("mkfs.ext4", [...options, beside]);
    renameSync(beside, this.#image);
  }
}
