/**
 * Signs the tree: at most `checkpointMs` after the first uncovered leaf, at once for a waiter, one at a time.
 * Order: files durable → files' root compared with the root in memory (TreeWriter) → signature → checkpoint durable → the rest.
 */
import { signCheckpoint } from "@resontech/audit/format/note/checkpoint";
import type { LogSigner } from "@resontech/audit/format/note/note-key";
import type { TreeWriter } from "./tree-writer.ts";

export type DurableLeaf = { leaf: Buffer; leafHash: Buffer };

type Parts = {
  tree: TreeWriter;
  origin: string;
  signers: readonly LogSigner[];
  checkpointMs: number;
  /** Leaves that are durable in the write-ahead log, from `index` on. */
  durableFrom: (index: number) => DurableLeaf[];
  /** Resolves once this checkpoint is durable. */
  publish: (size: number, note: string) => Promise<void>;
  /** A checkpoint of this size is durable. */
  onCovered: (size: number) => Promise<void>;
  onFatal: (error: unknown) => void;
};

export class Checkpointer {
  readonly #parts: Parts;
  #waiters: { index: number; resolve: (size: number) => void; reject: (error: Error) => void }[] =
    [];
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | null = null;
  #size: number;
  #isHeld = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#size = parts.tree.size;
  }

  /** Leaves that the last durable checkpoint covers. */
  get size(): number {
    return this.#size;
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Signs nothing until {@link release}. */
  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
  }

  /** There are durable leaves that no checkpoint covers. */
  note(): void {
    if (this.#isHeld) return;
    if (this.#waiters.length > 0) this.#start();
    else this.#timer ??= setTimeout(() => this.#start(), this.#parts.checkpointMs);
  }

  /** Resolves with the size of a durable checkpoint that covers the leaf at `index`. */
  cover(index: number): Promise<number> {
    if (index < this.#size) return Promise.resolve(this.#size);
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    this.#waiters.push({ index, resolve, reject });
    this.#start();
    return promise;
  }

  /** Covers what is durable, then ends. */
  async close(): Promise<void> {
    while (this.#parts.durableFrom(this.#size).length > 0 || this.#running !== null) {
      this.#start();
      await this.#running;
    }
    clearTimeout(this.#timer);
    for (const { reject } of this.#waiters) reject(new Error("auditd stops"));
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#running !== null) return;
    this.#running = this.#sign().then(
      () => {
        this.#running = null;
        if (this.#parts.durableFrom(this.#size).length > 0) this.note();
      },
      (error: unknown) => this.#parts.onFatal(error),
    );
  }

  async #sign(): Promise<void> {
    const { tree, origin, signers, durableFrom, publish, onCovered } = this.#parts;
    const leaves = durableFrom(this.#size);
    if (leaves.length === 0) return;
    const removeReplaced = await tree.grow(leaves);
    const note = await signCheckpoint({ origin, size: tree.size, root: tree.root() }, signers);
    await publish(tree.size, note);
    this.#size = tree.size;
    const [covered, waiting] = partition(this.#waiters, ({ index }) => index < this.#size);
    this.#waiters = waiting;
    for (const { resolve } of covered) resolve(this.#size);
    await removeReplaced();
    await onCovered(this.#size);
  }
}

function partition<T>(all: readonly T[], belongs: (one: T) => boolean): [T[], T[]] {
  return [all.filter(belongs), all.filter((one) => !belongs(one))];
}
