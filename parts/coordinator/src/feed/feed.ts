import { randomUUID } from "node:crypto";
import type { Change, FeedPosition, FeedTopic, LogChange } from "@resontech/contracts/live-feed";
import type { RowMatch } from "../db/row-filter.ts";
import { FEED_BOUNDS, type FeedBounds } from "./bounds.ts";
import { ChangeQueue } from "./change-queue.ts";
import { ChangeRing } from "./change-ring.ts";
import { LogQueue } from "./log-queue.ts";
import { LogTails } from "./log-tails.ts";
import { QueuePool } from "./queue-pool.ts";
import { type QueueLimits, type ReaderQueue } from "./reader-queue.ts";
import { Subscription } from "./subscription.ts";
import { TailRate } from "./tail-rate.ts";
import { costOf, isShown, type Reach, type Told, topicName, topicsOf } from "./told.ts";

export type SubscribeOptions = {
  /** What the door said about the reader and this topic. */
  reach: Reach;
  /** The position of the last message that it took; without one it begins with a `reset`. */
  since?: FeedPosition | undefined;
  signal?: AbortSignal | undefined;
};

/**
 * What changed, in memory alone: the newest changes for those who come back, and a bounded queue for each reader. It is told what is
 * committed, in the order of the commits, and keeps nobody waiting.
 */
export class Feed implements Disposable {
  readonly #epoch = randomUUID();
  readonly #bounds: FeedBounds;
  readonly #ring: ChangeRing;
  readonly #tails: LogTails;
  readonly #rate: TailRate;
  readonly #pool: QueuePool;
  readonly #readers = new Map<string, Set<Subscription>>();
  #sequence = 0;
  #isClosed = false;

  constructor(bounds: Partial<FeedBounds> = {}) {
    this.#bounds = { ...FEED_BOUNDS, ...bounds };
    this.#ring = new ChangeRing(this.#bounds);
    this.#tails = new LogTails(this.#bounds);
    this.#rate = new TailRate(this.#bounds.tailBytesPerS);
    this.#pool = new QueuePool(this.#bounds.queuesBytes);
  }

  get position(): FeedPosition {
    return { epoch: this.#epoch, sequence: this.#sequence };
  }

  /** Bytes by {@link costOf}, and subscriptions. */
  get holds(): { ringBytes: number; tailBytes: number; queueBytes: number; readers: number } {
    const readers = [...this.#readers.values()].reduce((sum, { size }) => sum + size, 0);
    return {
      ringBytes: this.#ring.bytes,
      tailBytes: this.#tails.bytes,
      queueBytes: this.#pool.bytes,
      readers,
    };
  }

  hasReaders(topic: FeedTopic): boolean {
    return this.#readers.has(topicName(topic));
  }

  /** Tells what is committed. @param at Unix milliseconds */
  publish(change: Exclude<Change, LogChange>, whose: RowMatch, at: number): void {
    const told = this.#tell(change, whose, at);
    this.#ring.add(told);
    this.#offer(told);
  }

  /** Tells what a member printed. Beyond the rate of its job the bytes are told without their text. */
  publishLog(printed: LogChange, whose: RowMatch, at: number): void {
    const { job, bytes, text } = printed;
    // How many bytes the text stands for is the agent's word.
    const isShownLive = text === null || this.#rate.take(job, Math.max(bytes, text.length), at);
    const told = this.#tell(isShownLive ? printed : { ...printed, text: null }, whose, at);
    this.#tails.add(job, told);
    this.#offer(told);
  }

  /** Who comes without a position, or with one that is too old, gets a `reset` first: rows that are read from then on are new enough. */
  subscribe(topic: FeedTopic, { reach, since, signal }: SubscribeOptions): Subscription {
    const name = topicName(topic);
    const limits: QueueLimits = { bytes: this.#bounds.queueBytes, pool: this.#pool };
    const from = this.#sequenceOf(since);
    const subscription = new Subscription({
      queue:
        topic.kind === "log"
          ? this.#logQueue(limits, topic.job, from, reach)
          : this.#changeQueue(limits, name, from, reach),
      reach,
      position: () => this.position,
      leave: (left) => this.#leave(name, left),
      signal,
    });
    const readers = this.#readers.get(name) ?? new Set();
    this.#readers.set(name, readers.add(subscription));
    if (this.#isClosed || signal?.aborted === true) subscription[Symbol.dispose]();
    return subscription;
  }

  /** Ends every loop over it. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    for (const readers of [...this.#readers.values()])
      for (const reader of [...readers]) reader[Symbol.dispose]();
  }

  #tell(change: Change, whose: RowMatch, at: number): Told {
    this.#sequence += 1;
    return {
      sequence: this.#sequence,
      at: new Date(at).toISOString(),
      change,
      whose,
      cost: costOf(change),
    };
  }

  #offer(told: Told): void {
    if (this.#readers.size === 0) return;
    for (const topic of topicsOf(told.change, told.whose))
      for (const reader of this.#readers.get(topic) ?? []) reader.offer(told);
  }

  #leave(name: string, subscription: Subscription): void {
    const readers = this.#readers.get(name);
    readers?.delete(subscription);
    if (readers?.size === 0) this.#readers.delete(name);
  }

  /** Null for a position of another life, or of none. */
  #sequenceOf(since: FeedPosition | undefined): number | null {
    return since === undefined || since.epoch !== this.#epoch || since.sequence > this.#sequence
      ? null
      : since.sequence;
  }

  #changeQueue(limits: QueueLimits, topic: string, from: number | null, reach: Reach): ReaderQueue {
    const later = from === null ? null : this.#ring.after(from);
    return new ChangeQueue(
      limits,
      later?.filter(
        (told) => topicsOf(told.change, told.whose).includes(topic) && isShown(told, reach),
      ) ?? null,
    );
  }

  /** Without a position it begins with the little that is kept; what is missing before it stands in the stored log. */
  #logQueue(limits: QueueLimits, job: string, from: number | null, reach: Reach): ReaderQueue {
    const isMine = (told: Told) => isShown(told, reach);
    const later = from === null ? null : this.#tails.after(job, from);
    if (from !== null && later !== null)
      return new LogQueue(limits, null, from, later.filter(isMine));
    const kept = this.#tails.kept(job).filter(isMine);
    const sequence = kept[0] === undefined ? this.#sequence : kept[0].sequence - 1;
    return new LogQueue(
      limits,
      { kind: "reset", epoch: this.#epoch, sequence, missed: null },
      sequence,
      kept,
    );
  }
}
