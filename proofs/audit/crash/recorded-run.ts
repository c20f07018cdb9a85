/** Records what auditd does to its files, and replays it: up to a point, with a sync call left out or none, on a disk that POSIX allows. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { AuditdProcess } from "./auditd-process.ts";
import { crashState } from "./crash-state.ts";
import { Disk, type DiskNode, type FoundNode } from "./disk-model.ts";
import { type Ack, Promises, type SeenCheckpoint } from "./promises.ts";
import { Recorder } from "./recorder.ts";
import type { Call } from "./recording.ts";
import type { Rows } from "./rows.ts";
import { callKindOf, syncCallOf } from "./sync-calls.ts";
import { firstDifference, makeDiskFolders, type Trial } from "./try-image.ts";

/** From a sync to the next one of the same file or folder, which makes up for it where it is left out. */
export type Window = { from: number; until: number };
export type Kept = { acks: readonly Ack[]; checkpoints: readonly SeenCheckpoint[] };
type Options = {
  /** An empty folder, or one whose `disk/` holds what a power cut left. */
  folder: string;
  rows: Rows;
  /** What was told before; null where there is no log yet. */
  kept: Kept | null;
  live: (auditd: AuditdProcess, recorder: Recorder) => Promise<void>;
};

export class RecordedRun {
  readonly calls: readonly Call[];
  /** Positions of each kind of call, and of each sync call. */
  readonly kinds = new Map<string, number[]>();
  readonly syncCalls = new Map<string, Window[]>();
  readonly #found: readonly FoundNode[];
  readonly #promises: Promises;
  readonly #rows: Rows;

  private constructor(calls: readonly Call[], found: readonly FoundNode[], { kept, rows }: Options) {
    this.calls = calls;
    this.#found = found;
    this.#promises = new Promises(kept);
    this.#rows = rows;
  }

  /** @throws when the record does not lead to the very files that are there at its end */
  static async record(options: Options): Promise<RecordedRun> {
    const disk = join(options.folder, "disk");
    makeDiskFolders(disk);
    const found = [...nodesOf(disk, "")];
    const auditd = new AuditdProcess(options.folder, disk);
    const recorder = new Recorder(options.folder, disk);
    try {
      await options.live(auditd, recorder);
    } finally {
      await auditd.stop("SIGKILL");
    }
    const run = new RecordedRun(recorder.calls(), found, options);
    const difference = firstDifference(
      disk,
      crashState(run.#note(), "all kept", () => 0),
    );
    if (difference !== null) throw new Error(`the record is not what happened: ${difference}`);
    return run;
  }

  /**
   * The disk after so many calls, for each of `points`, which must ascend. The next one changes it: what is made of it must be made at once.
   * @param leftOut a sync call that the program is taken not to make
   */
  *disksAt(points: readonly number[], leftOut: string | null): Generator<{ point: number; disk: Disk }> {
    const disk = new Disk(this.#found.map((node) => ({ ...node, bytes: node.bytes && Buffer.from(node.bytes) })));
    for (const point of points) {
      while (disk.position < point)
        disk.apply(this.calls[disk.position]!, (node) => leftOut === null || syncCallOf(node, disk.life) !== leftOut);
      yield { point, disk };
    }
  }

  /** What must hold after a power cut at this point. */
  trialAt(point: number): Trial {
    return {
      acks: this.#promises.acksBefore(point),
      checkpoints: this.#promises.checkpointsBefore(point),
      isInitialized: this.#promises.isInitialized(point),
      commitments: this.#rows.commitments,
    };
  }

  #note(): Disk {
    const disk = new Disk(this.#found.map((node) => ({ ...node, bytes: node.bytes && Buffer.from(node.bytes) })));
    const open = new Map<DiskNode, Window>();
    for (const [at, call] of this.calls.entries()) {
      if (call.op === "sync-begin") {
        const node = disk.node(call.inode);
        const made = open.get(node);
        if (made !== undefined) made.until = at + 1;
        const window = { from: at + 2, until: this.calls.length };
        open.set(node, window);
        note(this.syncCalls, syncCallOf(node, disk.life), window);
      }
      disk.apply(call);
      note(this.kinds, callKindOf(call, disk), at);
      this.#promises.note(call, disk);
    }
    return disk;
  }
}

function* nodesOf(root: string, path: string): Generator<FoundNode> {
  const { ino, mode } = statSync(join(root, path));
  yield { path, inode: ino, mode: mode & 0o7777, bytes: null };
  for (const entry of readdirSync(join(root, path), { withFileTypes: true })) {
    const at = path === "" ? entry.name : `${path}/${entry.name}`;
    if (entry.isDirectory()) yield* nodesOf(root, at);
    else {
      const file = statSync(join(root, at));
      yield { path: at, inode: file.ino, mode: file.mode & 0o7777, bytes: readFileSync(join(root, at)) };
    }
  }
}

function note<T>(all: Map<string, T[]>, kind: string | null, one: T): void {
  if (kind === null) return;
  const known = all.get(kind);
  if (known === undefined) all.set(kind, [one]);
  else known.push(one);
}
