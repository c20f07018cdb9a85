/**
 * The write-ahead log keeps what was written until it is written over, also what was deleted from the file since: an erasure of what opens commitments
 * must not end before a copy here. So it is emptied once a minute while commits come.
 */
import type { GroupCommit } from "./group-commit.ts";
import type { WriteHandle } from "./open-database.ts";

const EVERY_MS = 60_000;

export class WriteAheadLog implements Disposable {
  readonly #db: WriteHandle;
  readonly #commit: GroupCommit;
  readonly #timer: NodeJS.Timeout;
  #emptiedAt = -1;

  /** @param onError a log that could not be emptied; it is tried again */
  constructor(db: WriteHandle, commit: GroupCommit, onError: (error: unknown) => void) {
    this.#db = db;
    this.#commit = commit;
    this.#timer = setInterval(() => {
      try {
        this.empty();
      } catch (error) {
        onError(error);
      }
    }, EVERY_MS).unref();
  }

  /** @throws Error while a reader is in the middle of something, or when the disk is full */
  empty(): void {
    const { commits } = this.#commit.counts;
    if (commits === this.#emptiedAt) return;
    const timeoutMs = this.#db.pragma("busy_timeout", { simple: true }) as number;
    // Whoever reads in this thread would never end while it waits.
    this.#db.pragma("busy_timeout = 0");
    let result: { busy: number } | undefined;
    try {
      [result] = this.#db.pragma("wal_checkpoint(TRUNCATE)") as { busy: number }[];
    } finally {
      this.#db.pragma(`busy_timeout = ${timeoutMs}`);
    }
    if (result?.busy !== 0) throw new Error("the write-ahead log could not be emptied");
    this.#emptiedAt = commits;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
