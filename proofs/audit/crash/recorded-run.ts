/** Records what auditd does to its files, and replays it: up to a point, with a sync call left out or none, on a disk that POSIX allows. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { AuditdProcess } from "./auditd-process.ts";
import { DatedAuditd } from "./dated-auditd.ts";
import { crashState } from "./crash-state.ts";
import { Disk, type DiskNode, type FoundNode, isKey } from "./disk-model.ts";
import { type Ack, type Mark, Promises, type SeenCheckpoint, type TurnMark } from "./promises.ts";
import { Recorder } from "./recorder.ts";
import type { Call } from "./recording.ts";
import type { Rows } from "./rows.ts";
import { callKindOf, syncCallOf } from "./sync-calls.ts";
import { firstDifference, makeDiskFolders, type Trial } from "./try-image.ts";

/** From a sync to the next one of the same file or folder, which makes up for it where it is left out. */
export type Window = { from: number; until: number };
const PREPARED = /^(keys|policy)(\/|$)/;
const CALLS_AFTER_A_TURN = 80;
export type Kept = { acks: readonly Ack[]; checkpoints: readonly SeenCheckpoint[] };
type Options = {
  /** An empty folder, or one whose `disk/` holds what a power cut left. */
  folder: string;
  /** It writes to that `disk/`. */
  auditd: AuditdProcess;
  rows: Rows;
  /** What was told before; null where there is no log yet. */
  kept: Kept | null;
  live: (recorder: Recorder) => Promise<void>;
};

/** What auditd writes, of a recording in this folder. */
export function diskIn(folder: string): string {
  return join(folder, "disk");
}

export class RecordedRun {
  readonly calls: readonly Call[];
  /** Positions of each kind of call. */
  readonly kinds = new Map<string, number[]>();
  readonly syncCalls = new Set<string>();
  /** From what is prepared for a turn to what is written after it. */
  readonly turns: readonly Window[];
  readonly whole: readonly Window[];
  readonly #found: readonly FoundNode[];
  readonly #promises: Promises;
  readonly #rows: Rows;
  /** Of a log through years. */
  readonly #inception: string | null;
  readonly #initializedAt: number;
  /** From the word of somebody that a year has begun until its shard has. */
  readonly #turning: readonly Window[];

  private constructor(
    calls: readonly Call[],
    found: readonly FoundNode[],
    { kept, rows, auditd }: Options,
  ) {
    this.calls = calls;
    this.whole = [{ from: 0, until: calls.length }];
    this.#inception = auditd instanceof DatedAuditd ? auditd.config.inception : null;
    this.#initializedAt = calls.findIndex(
      (call) => call.op === "mark" && "initialized" in (call.mark as Mark),
    );
    this.#turning = turnsFrom("begins", calls, 0);
    this.turns = turnsFrom("comes", calls, CALLS_AFTER_A_TURN);
    this.#found = found;
    this.#promises = new Promises(kept);
    this.#rows = rows;
  }

  /** @throws when the record does not lead to the very files that are there at its end */
  static async record(options: Options): Promise<RecordedRun> {
    const { auditd } = options;
    const disk = diskIn(options.folder);
    makeDiskFolders(disk);
    const found = [...nodesOf(disk, "")];
    const recorder = new Recorder(options.folder, disk);
    try {
      await options.live(recorder);
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
  *disksAt(
    points: readonly number[],
    leftOut: string | null,
  ): Generator<{ point: number; disk: Disk }> {
    const disk = this.#foundDisk();
    for (const point of points) {
      while (disk.position < point)
        disk.apply(
          this.calls[disk.position]!,
          (node) => leftOut === null || this.#syncCall(node, disk) !== leftOut,
        );
      yield { point, disk };
    }
  }

  /**
   * Where it matters that a sync call is left out: from each time to the next sync of the same file or folder, left out or not, or to its removal;
   * what a key held matters ever after.
   */
  windowsWithout(leftOut: string): Window[] {
    const windows: Window[] = [];
    const open = new Map<DiskNode, Window>();
    const disk = this.#foundDisk();
    for (const [at, call] of this.calls.entries()) {
      const close = (node: DiskNode, until: number): void => {
        const made = open.get(node);
        if (made !== undefined) made.until = until;
        open.delete(node);
      };
      // A name beside the one that it is to have is not its last.
      const isGone =
        (call.op === "unlink" && !call.path.endsWith(".new") && !isKey(call.path)) ||
        call.op === "rmdir";
      if (isGone) close(disk.lookup(call.path), at + 2);
      disk.apply(call, (node) => {
        close(node, at + 1);
        if (this.#syncCall(node, disk) !== leftOut) return true;
        const window = { from: at + 2, until: this.calls.length };
        open.set(node, window);
        windows.push(window);
        return false;
      });
    }
    return windows;
  }

  /** What must hold after a power cut at this point. */
  trialAt(point: number): Trial {
    return {
      acks: this.#promises.acksBefore(point),
      checkpoints: this.#promises.checkpointsBefore(point),
      isInitialized: this.#promises.isInitialized(point),
      commitments: this.#rows.commitments,
      turn: this.#inception === null ? null : this.#turnAt(point, this.#inception),
    };
  }

  #turnAt(point: number, inception: string): Trial["turn"] {
    const ended = this.#promises.endedBefore(point);
    const secrets = this.#promises.secretsBefore(point);
    return {
      inception,
      newYear: (ended.at(-1) ?? Number(inception.slice(0, 4)) - 1) + 2,
      secrets,
      destroyed: secrets.filter(({ slug }) => ended.includes(Number(slug))),
    };
  }

  /** Those of a turn are told apart: one that is needed elsewhere must show that it is needed there. Keys and policy change for one alone. */
  #syncCall(node: DiskNode, disk: Disk): string | null {
    const name = syncCallOf(node, disk);
    const at = disk.position;
    const isPreparing =
      this.#initializedAt !== -1 && at > this.#initializedAt && PREPARED.test(node.path);
    const isAtTurn =
      isPreparing || this.#turning.some(({ from, until }) => from <= at && at <= until);
    return name !== null && isAtTurn ? `${name} at a turn` : name;
  }

  #note(): Disk {
    const disk = this.#foundDisk();
    for (const [at, call] of this.calls.entries()) {
      disk.apply(call, (node) => {
        const name = this.#syncCall(node, disk);
        if (name !== null) this.syncCalls.add(name);
        return true;
      });
      const kind = callKindOf(call, disk);
      if (kind !== null && this.kinds.get(kind)?.push(at) === undefined) this.kinds.set(kind, [at]);
      this.#promises.note(call, disk);
    }
    return disk;
  }

  #foundDisk(): Disk {
    return new Disk(
      this.#found.map((node) => ({ ...node, bytes: node.bytes && Buffer.from(node.bytes) })),
    );
  }
}

function turnsFrom(begin: TurnMark["turn"], calls: readonly Call[], callsAfter: number): Window[] {
  const marksOf = (turn: TurnMark["turn"]): number[] =>
    calls.flatMap((call, at) =>
      call.op === "mark" && (call.mark as Partial<TurnMark>).turn === turn ? [at] : [],
    );
  const ends = marksOf("ended");
  return marksOf(begin).map((from, turn) => ({
    from,
    until: Math.min(ends[turn]! + callsAfter, calls.length),
  }));
}

function* nodesOf(root: string, path: string): Generator<FoundNode> {
  const { ino, mode } = statSync(join(root, path));
  yield { path, inode: ino, mode: mode & 0o7777, bytes: null };
  for (const entry of readdirSync(join(root, path), { withFileTypes: true })) {
    const at = path === "" ? entry.name : `${path}/${entry.name}`;
    if (entry.isDirectory()) yield* nodesOf(root, at);
    else {
      const file = statSync(join(root, at));
      yield {
        path: at,
        inode: file.ino,
        mode: file.mode & 0o7777,
        bytes: readFileSync(join(root, at)),
      };
    }
  }
}
