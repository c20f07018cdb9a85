/** Really full disks: a small tmpfs whose blocks, or whose inodes, end while a coordinator writes. */
import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AuditdProcess, StartRefusedError } from "./auditd-process.ts";
import { Coordinator } from "./coordinator.ts";
import type { Ack } from "./promises.ts";
import { Rows } from "./rows.ts";
import { makeDiskFolders, takeUp } from "./try-image.ts";

const MIB = 1_048_576;
const SIZE_BYTES = 32 * MIB;
const ROOM_BYTES = 128 * MIB;
/** What a log needs before its first checkpoint, and more. */
const MIN_INODES = 45;
const MAX_MORE_INODES = 80;
const ROOM_INODES = 100_000;
const MAX_FREE_BYTES = 1.5 * MIB;
const LOAD_LIMIT_MS = 4_000;

export type Lack = "bytes" | "inodes";
export type FullDiskRound = {
  lack: Lack;
  broken: string[];
  acks: number;
  /** auditd ended of itself when it found no room; else it was killed in the end. */
  hasEnded: boolean;
  /** What a start on the disk that is still full came to. */
  startOnFull: "started" | "refused";
};

/** @param root an empty place; needs the right to mount */
export async function fillDisk(
  root: string,
  lack: Lack,
  random: () => number,
): Promise<FullDiskRound> {
  const disk = join(root, "disk");
  mkdirSync(disk, { recursive: true });
  const inodes =
    lack === "inodes" ? MIN_INODES + Math.floor(random() * MAX_MORE_INODES) : ROOM_INODES;
  mount("-t", "tmpfs", "-o", `size=${SIZE_BYTES},nr_inodes=${inodes}`, "tmpfs", disk);
  const withBallast = random() < 0.5;
  const auditd = new AuditdProcess(root, disk, withBallast ? {} : { ballastBytes: 0 });
  try {
    makeDiskFolders(disk);
    await auditd.init();
    const rows = new Rows(random);
    const acks: Ack[] = [];
    const coordinator = new Coordinator(auditd, rows, random, (arrived) => acks.push(...arrived));
    await auditd.start();
    if (lack === "bytes") fill(disk, random() * MAX_FREE_BYTES);
    const hasEnded = await writeUntilItEnds(auditd, coordinator);
    const startOnFull = await triedStart(auditd);
    mount("-o", `remount,size=${ROOM_BYTES},nr_inodes=${ROOM_INODES}`, disk);
    const trial = {
      acks,
      checkpoints: [],
      commitments: rows.commitments,
      isInitialized: true,
      turn: null,
    };
    const { broken } = await takeUp(auditd, trial);
    return { lack, broken, acks: acks.length, hasEnded, startOnFull };
  } finally {
    await auditd.stop("SIGKILL");
    execFileSync("umount", [disk]);
  }
}

async function writeUntilItEnds(auditd: AuditdProcess, coordinator: Coordinator): Promise<boolean> {
  const ended = new AbortController();
  auditd.ended().then(() => ended.abort());
  const limit = AbortSignal.timeout(LOAD_LIMIT_MS);
  await coordinator
    .write(Number.POSITIVE_INFINITY, AbortSignal.any([ended.signal, limit]))
    .catch(() => {});
  // A connection that breaks is seen a moment before the process that ended.
  const hasEnded = limit.aborted ? !auditd.isRunning : await auditd.hasEnded(1_000);
  await auditd.stop("SIGKILL");
  return hasEnded;
}

async function triedStart(auditd: AuditdProcess): Promise<"started" | "refused"> {
  try {
    await auditd.start();
    await sleep(100);
    return "started";
  } catch (error) {
    if (!(error instanceof StartRefusedError)) throw error;
    return "refused";
  } finally {
    await auditd.stop("SIGKILL");
  }
}

function fill(disk: string, leftBytes: number): void {
  const { bavail, bsize } = statfsSync(disk);
  const fd = openSync(join(disk, "filler"), "w");
  try {
    const block = Buffer.alloc(MIB);
    for (let left = bavail * bsize - leftBytes; left > 0; left -= block.length)
      writeSync(fd, block, 0, Math.min(block.length, Math.ceil(left)));
  } catch (error) {
    // auditd writes meanwhile, and may have taken what was to be left.
    if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
  } finally {
    closeSync(fd);
  }
}

function mount(...args: string[]): void {
  execFileSync("mount", args);
}
