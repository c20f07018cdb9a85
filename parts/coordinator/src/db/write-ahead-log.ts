/**
 * The write-ahead log keeps what was written until it is written over, also what was deleted from the file since: an erasure of what opens commitments
 * must not end before a copy here. So it is emptied once a minute while commits come, and sooner where it has grown.
 *
 * A process that follows the database reads the log all the time, and lets it begin anew between two looks. It is waited for, but not for long.
 */
import { statSync } from "node:fs";
import type { GroupCommit } from "./group-commit.ts";
import type { WriteHandle } from "./open-database.ts";

const LOOK_MS = 1_000;
const EVERY_MS = 60_000;
/** One that failed has cost this thread some time. */
const AGAIN_MS = 10_000;
const LARGE_BYTES = 16 * 1024 ** 2;
/** SQLite itself copies pages into the file from that size on with each commit: not before this does. */
const LARGE_PAGES = 4_000;
/** Five looks of a follower. Nobody else in this thread goes on meanwhile. */
const FOLLOWER_MS = 250;
/** A log that can't be emptied for so long is told of. */
const TOLD_AFTER_MS = 3 * EVERY_MS;

export class WriteAheadLog implements Disposable {
  readonly #db: WriteHandle;
  readonly #commit: GroupCommit;
  readonly #timer: NodeJS.Timeout;
  #emptiedAt = -1;
  #emptiedAtMs = performance.now();
  #toldAtMs = Number.NEGATIVE_INFINITY;
  #againAtMs = Number.NEGATIVE_INFINITY;

  /** @param onError a log that could not be emptied for minutes; it is tried again */
  constructor(db: WriteHandle, commit: GroupCommit, onError: (error: unknown) => void) {
    this.#db = db;
    this.#commit = commit;
    db.pragma(`wal_autocheckpoint = ${LARGE_PAGES}`);
    this.#timer = setInterval(() => {
      const nowMs = performance.now();
      const forMs = nowMs - this.#emptiedAtMs;
      const isDue = forMs >= EVERY_MS || this.#bytes >= LARGE_BYTES;
      if (!isDue || nowMs < this.#againAtMs) return;
      try {
        this.empty();
        this.#emptiedAtMs = nowMs;
      } catch (error) {
        this.#againAtMs = nowMs + AGAIN_MS;
        if (forMs < TOLD_AFTER_MS || nowMs - this.#toldAtMs < EVERY_MS) return;
        this.#toldAtMs = nowMs;
        onError(error);
      }
    }, LOOK_MS).unref();
  }

  /** @throws Error while a reader is in the middle of something, or when the disk is full */
  empty(): void {
    const { commits } = this.#commit.counts;
    if (commits === this.#emptiedAt) return;
    if (!this.#tryWithin(0) && !this.#tryWithin(FOLLOWER_MS))
      throw new Error("the write-ahead log could not be emptied");
    this.#emptiedAt = commits;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  get #bytes(): number {
    return statSync(`${this.#db.name}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Whoever reads in this thread never ends while it waits. */
  #tryWithin(waitMs: number): boolean {
    const timeoutMs = this.#db.pragma("busy_timeout", { simple: true }) as number;
    this.#db.pragma(`busy_timeout = ${waitMs}`);
    try {
      const [result] = this.#db.pragma("wal_checkpoint(TRUNCATE)") as { busy: number }[];
      return result?.busy === 0;
    } finally {
      this.#db.pragma(`busy_timeout = ${timeoutMs}`);
    }
  }
}
