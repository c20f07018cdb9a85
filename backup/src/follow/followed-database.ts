/**
 * Reads what another process commits to a SQLite database, without a gap and without a write.
 *
 * A reader's lock keeps SQLite from writing over what came after the reader began. Two connections take turns: the next one begins to read before the one
 * before it ends. So the log begins anew only where all of it was read, and is in the database's own file.
 *
 * A process that closes any descriptor of these files loses its locks on them: ours stay open as long as the connections.
 */
import { closeSync, constants, openSync, readlinkSync, readSync } from "node:fs";
import Database from "better-sqlite3";
import { BackupError } from "../backup-error.ts";
import {
  backfilledIn,
  FRAME_HEAD_BYTES,
  INDEX_BYTES,
  parseFrame,
  parseWalHead,
  parseWalIndex,
  type Sums,
  WAL_HEAD_BYTES,
  type WalHead,
  type WalIndex,
} from "./wal-format.ts";

const BUSY_MS = 5_000;
/** Another process writes the index's head within a microsecond. */
const INDEX_TRIES = 1_000;
const FRAMES_AT_ONCE = 256;
const PAGES_AT_ONCE = 256;

/** Pages that differ from the state before, by number. */
export type Changes = {
  pageBytes: number;
  /** Of the database, after them. */
  pages: number;
  changed: Map<number, Buffer>;
};
/** The whole database as it was at one moment. */
export type WholeDatabase = Disposable & {
  pageBytes: number;
  pages: number;
  /** Pages from the first, in runs. */
  read(): Generator<{ first: number; bytes: Buffer }>;
};

export class FollowedDatabase implements Disposable {
  readonly #file: string;
  readonly #turns: [Turn, Turn];
  readonly #maxBytes: number;
  readonly #descriptors: { database: number; log: number; index: number };
  #position: { salts: string; frames: number; sums: Sums };
  /** Of this life of the log: where the newest content of a page lies. */
  readonly #frameOf = new Map<number, number>();
  #size: { pageBytes: number; pages: number };

  /**
   * @param file in use by another process, in WAL mode
   * @param maxBytes that {@link changes} may bring at once
   * @throws BackupError `backup_source`
   */
  constructor(file: string, maxBytes: number) {
    this.#file = file;
    this.#maxBytes = maxBytes;
    using stack = new DisposableStack();
    this.#turns = [stack.use(new Turn(file)), stack.use(new Turn(file))];
    this.#turns[0].begin();
    const opened = (suffix: string): number =>
      stack.adopt(openOwn(`${file}${suffix}`), (descriptor) => closeSync(descriptor));
    this.#descriptors = { database: opened(""), log: opened("-wal"), index: opened("-shm") };
    const index = this.#readIndex();
    this.#size = index;
    // Whatever was before is in nobody's hands yet: `whole` brings it.
    this.#position = { salts: index.salts, frames: 0, sums: [0, 0] };
    this.#takeTurn();
    const now = this.#readIndex();
    if (now.salts !== index.salts) throw this.#broken("its log began anew");
    if (now.frames > 0) this.#readFrames(now, 0, () => {});
    this.#size = now;
    stack.move();
  }

  /** What was committed since the last call; null where nothing was. @throws BackupError `backup_source` where the thread is lost */
  changes(): Changes | null {
    this.#takeTurn();
    const index = this.#readIndex();
    if (index.salts !== this.#position.salts) {
      this.#position = { salts: index.salts, frames: 0, sums: [0, 0] };
      this.#frameOf.clear();
    }
    const from = this.#position.frames;
    if (index.frames === from) return null;
    if (index.frames < from) throw this.#broken("its log became shorter");
    if ((index.frames - from) * index.pageBytes > this.#maxBytes)
      throw this.#broken("more was written at once than is held in memory");
    const changed = new Map<number, Buffer>();
    this.#readFrames(index, from, (page, bytes) => changed.set(page, Buffer.from(bytes)));
    this.#size = index;
    return { pageBytes: index.pageBytes, pages: index.pages, changed };
  }

  /** The database as it is after all {@link changes} that this brings as well. SQLite's log grows until it is disposed of. */
  whole(): { changes: Changes | null; whole: WholeDatabase } {
    const turn = new Turn(this.#file);
    try {
      turn.begin();
      let changes = this.changes();
      for (;;) {
        const { backfilled, salts } = this.#readBackfilled();
        if (salts === this.#position.salts)
          return { changes, whole: this.#wholeWith(turn, backfilled) };
        changes = merged(changes, this.changes());
      }
    } catch (error) {
      turn[Symbol.dispose]();
      throw error;
    }
  }

  [Symbol.dispose](): void {
    for (const turn of this.#turns) turn[Symbol.dispose]();
    for (const descriptor of Object.values(this.#descriptors)) closeSync(descriptor);
  }

  /** What is in the database's own file is read there: the log may begin anew where all is. */
  #wholeWith(turn: Turn, backfilled: number): WholeDatabase {
    const { pageBytes, pages } = this.#size;
    const { database, log } = this.#descriptors;
    const inLog = new Map([...this.#frameOf].filter(([, frame]) => frame > backfilled));
    return {
      ...{ pageBytes, pages },
      [Symbol.dispose]: () => turn[Symbol.dispose](),
      *read() {
        for (let first = 1; first <= pages; first += PAGES_AT_ONCE) {
          const count = Math.min(PAGES_AT_ONCE, pages - first + 1);
          const bytes = Buffer.alloc(count * pageBytes);
          // Pages at the end may be in the log alone.
          readSync(database, bytes, 0, bytes.length, (first - 1) * pageBytes);
          for (let page = first; page < first + count; page += 1) {
            const frame = inLog.get(page);
            if (frame === undefined) continue;
            const at = frameAt(frame, pageBytes) + FRAME_HEAD_BYTES;
            readSync(log, bytes, (page - first) * pageBytes, pageBytes, at);
          }
          yield { first, bytes };
        }
      },
    };
  }

  #takeTurn(): void {
    const [now, next] = this.#turns;
    next.begin();
    now.end();
    this.#turns.reverse();
  }

  #readIndex(): WalIndex {
    for (let tries = 0; tries < INDEX_TRIES; tries += 1) {
      const index = parseWalIndex(readAt(this.#descriptors.index, 0, INDEX_BYTES));
      if (index !== null) return index;
    }
    throw this.#broken("its index can't be read");
  }

  /** With the life of the log that it is of. */
  #readBackfilled(): { backfilled: number; salts: string } {
    const { index } = this.#descriptors;
    const backfilled = backfilledIn(readAt(index, 0, INDEX_BYTES));
    return { backfilled, salts: this.#readIndex().salts };
  }

  #readFrames(index: WalIndex, from: number, onPage: (page: number, bytes: Buffer) => void): void {
    const { pageBytes, frames } = index;
    const head = this.#readHead(index);
    const frameBytes = FRAME_HEAD_BYTES + pageBytes;
    let { sums } = from === 0 ? head : this.#position;
    let pages = 0;
    for (let first = from + 1; first <= frames; first += FRAMES_AT_ONCE) {
      const count = Math.min(FRAMES_AT_ONCE, frames - first + 1);
      const bytes = readAt(this.#descriptors.log, frameAt(first, pageBytes), count * frameBytes);
      for (let at = 0; at < count; at += 1) {
        const one = bytes.subarray(at * frameBytes, (at + 1) * frameBytes);
        const frame = one.length < frameBytes ? null : parseFrame(one, head, sums);
        if (frame === null) throw this.#broken(`frame ${first + at} of its log is none`);
        ({ sums, pages } = frame);
        onPage(frame.page, one.subarray(FRAME_HEAD_BYTES));
        this.#frameOf.set(frame.page, first + at);
      }
    }
    if (pages !== index.pages || sums[0] !== index.sums[0] || sums[1] !== index.sums[1])
      throw this.#broken("its log does not end where its index says");
    this.#position = { salts: index.salts, frames, sums };
  }

  #readHead({ salts, pageBytes }: WalIndex): WalHead {
    const head = parseWalHead(readAt(this.#descriptors.log, 0, WAL_HEAD_BYTES));
    if (head === null || head.salts !== salts || head.pageBytes !== pageBytes)
      throw this.#broken("its log is of another life than its index");
    return head;
  }

  #broken(why: string): BackupError {
    return new BackupError("backup_source", `${this.#file} can't be followed: ${why}`);
  }
}

/** One state that follows another, over the one before. */
export function merged(before: Changes | null, after: Changes | null): Changes | null {
  if (before === null || after === null) return after ?? before;
  for (const [page, bytes] of after.changed) before.changed.set(page, bytes);
  return { ...after, changed: before.changed };
}

/** A connection that reads. */
class Turn implements Disposable {
  readonly #db: Database.Database;
  readonly #begin: Database.Statement;
  readonly #look: Database.Statement;
  readonly #end: Database.Statement;

  constructor(file: string) {
    try {
      this.#db = new Database(file, { readonly: true, fileMustExist: true, timeout: BUSY_MS });
      if (this.#db.pragma("journal_mode", { simple: true }) !== "wal")
        throw new Error("it has no write-ahead log");
      this.#begin = this.#db.prepare("BEGIN");
      this.#end = this.#db.prepare("COMMIT");
      this.#look = this.#db.prepare("SELECT 1 FROM sqlite_schema LIMIT 1");
    } catch (cause) {
      throw cantFollow(file, cause);
    }
  }

  /** @throws BackupError `backup_source` */
  begin(): void {
    try {
      this.#begin.run();
      this.#look.get();
    } catch (cause) {
      throw cantFollow(this.#db.name, cause);
    }
  }

  end(): void {
    this.#end.run();
  }

  [Symbol.dispose](): void {
    this.#db.close();
  }
}

function cantFollow(file: string, cause: unknown): BackupError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new BackupError("backup_source", `${file} can't be followed: ${message}`, { cause });
}

/** Other users write there: no link is followed. @throws BackupError `backup_source` */
function openOwn(file: string): number {
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  if (readlinkSync(`/proc/self/fd/${descriptor}`) === file) return descriptor;
  closeSync(descriptor);
  throw new BackupError("backup_source", `${file} is reached by a link`);
}

/** Fewer bytes where the file ends. */
function readAt(descriptor: number, at: number, count: number): Buffer {
  const bytes = Buffer.alloc(count);
  return bytes.subarray(0, readSync(descriptor, bytes, 0, count, at));
}

/** @param frame from 1 */
function frameAt(frame: number, pageBytes: number): number {
  return WAL_HEAD_BYTES + (frame - 1) * (FRAME_HEAD_BYTES + pageBytes);
}
