import type { FeedMessage, LogChange } from "@resontech/contracts/live-feed";
import { BoundedList, messageOf, type QueueLimits, type ReaderQueue } from "./reader-queue.ts";
import type { Told } from "./told.ts";

type Dropped = { change: LogChange & { text: null }; at: string };

/** What a job prints. The newest is worth most: the oldest makes room, and the reader is told how many bytes of whom that was. */
export class LogQueue implements ReaderQueue {
  readonly #list: BoundedList;
  /** One for each member, older than what is in the list. */
  readonly #dropped = new Map<string, Dropped>();
  #droppedUpTo = 0;
  #startsWith: FeedMessage | null;
  #position: number;

  /** @param reset what is told first; null where the reader goes on from its position */
  constructor(
    limits: QueueLimits,
    reset: FeedMessage | null,
    position: number,
    kept: readonly Told[],
  ) {
    this.#list = new BoundedList(limits, true);
    this.#startsWith = reset;
    this.#position = position;
    for (const told of kept) this.add(told);
  }

  add(told: Told): void {
    while (!this.#list.push(told)) {
      const oldest = this.#list.shift();
      this.#drop(oldest ?? told);
      if (oldest === undefined) return;
    }
  }

  pass(told: Told): FeedMessage {
    this.#position = told.sequence;
    return messageOf(told);
  }

  take(): FeedMessage | null {
    if (this.#startsWith !== null) {
      const first = this.#startsWith;
      this.#startsWith = null;
      return first;
    }
    const [dropped] = this.#dropped.values();
    if (dropped !== undefined) {
      this.#dropped.delete(dropped.change.member);
      // Who leaves between two of these hears of the others when it comes back.
      if (this.#dropped.size === 0) this.#position = this.#droppedUpTo;
      return { kind: "change", sequence: this.#position, at: dropped.at, change: dropped.change };
    }
    const told = this.#list.shift();
    return told === undefined ? null : this.pass(told);
  }

  clear(): void {
    this.#list.clear();
    this.#dropped.clear();
  }

  #drop({ sequence, at, change }: Told): void {
    if (change.kind !== "log") return;
    const { job, member, offset, bytes } = change;
    const before = this.#dropped.get(member)?.change;
    const from = before?.offset ?? offset;
    const end = Math.max(before === undefined ? 0 : before.offset + before.bytes, offset + bytes);
    this.#dropped.set(member, {
      change: { kind: "log", job, member, offset: from, bytes: end - from, text: null },
      at,
    });
    this.#droppedUpTo = sequence;
  }
}
