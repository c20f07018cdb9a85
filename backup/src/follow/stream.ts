/**
 * One life of a follower on a target: a whole state, then changes, each within a fraction of a second. Changes that could not be written wait in memory,
 * and are tried again as they are. Where they become too many, the stream ends, and SQLite's log is let go.
 */
import { randomBytes } from "node:crypto";
import { encryptTo } from "../age/encrypt-to.ts";
import { BackupError } from "../backup-error.ts";
import {
  type FollowedFile,
  followedFile,
  followedPath,
  servedBefore,
} from "../decisions/followed-chain.ts";
import { isWholeDue } from "../decisions/due-whole.ts";
import { once } from "../take/claim-target.ts";
import { gzipped } from "../take/gzipped.ts";
import type { Target } from "../targets/target.ts";
import { changesContent, type Told, wholeContent } from "./followed-content.ts";
import { type Changes, FollowedDatabase, merged } from "./followed-database.ts";
import { firstLink } from "./followed-statement.ts";

/** Of changes that wait, and of what a try holds beside them. */
const MAX_WAITING_BYTES = 64 * 1024 ** 2;
const AGAIN_AFTER_MS = 1_000;

export type StreamOptions = {
  /** The database, which another process writes. */
  file: string;
  target: Target;
  recipient: Uint8Array;
  /** PKCS #8, Ed25519. */
  signingKeyPem: string;
  release: string;
  /** @default that of the host */
  now?: () => number;
};

/** One name never stands for two contents: what is tried again is what was tried. */
type Unwritten = { path: string; content: Buffer; packed: Buffer | null; atMs: number };

export class Stream implements Disposable {
  readonly #options: StreamOptions;
  readonly #database: FollowedDatabase;
  readonly #name: string;
  readonly #now: () => number;
  #number = 0;
  #link: string;
  #waiting: Changes | null = null;
  #seenAtMs: number;
  #unwritten: Unwritten | null = null;
  #since = { files: 0, bytes: 0, wholeBytes: 0 };
  #wholeWritten = false;
  #writing: Promise<void> | null = null;
  #writingWhole: Promise<void> | null = null;
  #againAtMs = 0;
  #wholeAgainAtMs = 0;
  #failure: BackupError | null = null;
  #upToMs: number | null = null;
  #isWholeWanted = true;
  #isEnding = false;

  /** @throws BackupError `backup_source` */
  constructor(options: StreamOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#seenAtMs = this.#now();
    this.#name = `${String(this.#seenAtMs).padStart(13, "0")}-${randomBytes(8).toString("hex")}`;
    this.#link = firstLink(this.#name);
    this.#database = new FollowedDatabase(options.file, MAX_WAITING_BYTES);
  }

  /** All that was committed before it is on the target; null before the first whole state is. */
  get upToMs(): number | null {
    return this.#wholeWritten ? this.#upToMs : null;
  }

  /** Why the last try failed; null where it did not. */
  get failure(): BackupError | null {
    return this.#failure;
  }

  /** Another whole state is written soon, and what it makes needless goes. */
  askForWhole(): void {
    this.#isWholeWanted = true;
  }

  /** Takes what was committed into memory. Asked often: SQLite's log can begin anew only between two times. @throws BackupError `backup_source` */
  look(): void {
    const atMs = this.#now();
    this.#waiting = merged(this.#waiting, this.#database.changes());
    this.#seenAtMs = atMs;
    if (bytesOf(this.#waiting) + (this.#unwritten?.content.length ?? 0) > MAX_WAITING_BYTES)
      throw (
        this.#failure ??
        new BackupError("backup_target", `${this.#options.target.name} is slower than the database`)
      );
  }

  /** Begins to write what waits, and a whole state where one is due; awaits neither. */
  write(): void {
    if (this.#now() >= this.#againAtMs) this.#writeNext();
    const isDue = this.#isWholeWanted || isWholeDue(this.#since);
    if (isDue && this.#writingWhole === null && this.#now() >= this.#wholeAgainAtMs)
      this.#writingWhole = this.#writeWhole().finally(() => (this.#writingWhole = null));
  }

  /** What was committed up to now is on the target, or could not be written. */
  async settle(): Promise<void> {
    await this.#writing;
    this.look();
    for (let tries = 0; tries < 2 && !this.#isSettled; tries += 1) {
      this.#writeNext();
      await this.#writing;
    }
  }

  /** Whatever is being written is awaited: a name that comes late would lie in another stream's way. */
  async end(): Promise<void> {
    this.#isEnding = true;
    await Promise.allSettled([this.#writing, this.#writingWhole]);
    this[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.#database[Symbol.dispose]();
  }

  get #isSettled(): boolean {
    return this.#unwritten === null && this.#waiting === null;
  }

  #writeNext(): void {
    if (this.#writing !== null) return;
    this.#unwritten ??= this.#taken();
    if (this.#unwritten === null) this.#noteUpTo(this.#seenAtMs);
    else this.#writing = this.#put(this.#unwritten).finally(() => (this.#writing = null));
  }

  /** What waits becomes the next changes. */
  #taken(): Unwritten | null {
    if (this.#waiting === null) return null;
    const [changes, atMs] = [this.#waiting, this.#seenAtMs];
    this.#waiting = null;
    this.#number += 1;
    const told = this.#told("changes", atMs);
    const { bytes, link } = changesContent(changes, told, this.#options.signingKeyPem);
    this.#link = link;
    return { path: followedPath(told), content: bytes, packed: null, atMs };
  }

  async #put(unwritten: Unwritten): Promise<void> {
    const { path, content, atMs } = unwritten;
    try {
      unwritten.packed ??= await joined(this.#sealed(once(content)));
      await this.#options.target.put(path, once(unwritten.packed));
    } catch (error) {
      this.#failed(error);
      this.#againAtMs = this.#now() + AGAIN_AFTER_MS;
      return;
    }
    this.#unwritten = null;
    this.#failure = null;
    this.#noteUpTo(atMs);
    this.#since.files += 1;
    this.#since.bytes += unwritten.packed.length;
  }

  async #writeWhole(): Promise<void> {
    const { target, signingKeyPem } = this.#options;
    await this.#writing;
    if (this.#unwritten !== null) return;
    try {
      const atMs = this.#now();
      const { changes, whole } = this.#database.whole();
      using _ = whole;
      // What waits ends where the whole state does, and is numbered before anything else is read.
      this.#waiting = merged(this.#waiting, changes);
      this.#seenAtMs = atMs;
      this.#writeNext();
      const told = this.#told("whole", atMs);
      this.#isWholeWanted = false;
      this.#since = { files: 0, bytes: 0, wholeBytes: whole.pages * whole.pageBytes };
      const path = followedPath(told);
      const content = this.#unlessEnding(wholeContent(whole, told, signingKeyPem));
      await target.put(path, this.#sealed(content));
      this.#wholeWritten = true;
      this.#noteUpTo(atMs);
      await this.#removeServed(path);
    } catch (error) {
      this.#isWholeWanted = true;
      this.#wholeAgainAtMs = this.#now() + AGAIN_AFTER_MS;
      this.#failed(error);
    }
  }

  async #removeServed(path: string): Promise<void> {
    const { target } = this.#options;
    const found: FollowedFile[] = [];
    for await (const one of target.list("follow")) {
      const file = followedFile(one);
      if (file !== null) found.push(file);
    }
    const whole = found.find((file) => file.path === path);
    if (whole === undefined) return;
    for (const file of servedBefore(found, whole)) await target.remove(file.path);
  }

  #told(kind: "whole" | "changes", atMs: number): Told {
    const { release } = this.#options;
    const [stream, number, previous] = [this.#name, this.#number, this.#link];
    return { release, stream, kind, number, atMs, previous };
  }

  #noteUpTo(atMs: number): void {
    this.#upToMs = Math.max(this.#upToMs ?? 0, atMs);
  }

  async *#unlessEnding(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of content) {
      if (this.#isEnding) throw new BackupError("backup_target", "the follower ends");
      yield piece;
    }
  }

  #sealed(content: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    return encryptTo(this.#options.recipient, gzipped(content));
  }

  #failed(cause: unknown): void {
    const message = cause instanceof Error ? cause.message : String(cause);
    this.#failure =
      cause instanceof BackupError ? cause : new BackupError("backup_source", message, { cause });
  }
}

async function joined(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}

function bytesOf(changes: Changes | null): number {
  return changes === null ? 0 : changes.changed.size * changes.pageBytes;
}
