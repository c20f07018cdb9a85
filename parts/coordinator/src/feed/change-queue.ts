import type { FeedMessage } from "@resontech/contracts/live-feed";
import { BoundedList, messageOf, type QueueLimits, type ReaderQueue } from "./reader-queue.ts";
import type { Told } from "./told.ts";

/**
 * Changes of jobs or nodes. A reader that is too slow for all of them reads the rows again, so none is worth keeping: a queue that is full
 * becomes a `reset` that counts, and takes no memory until the reader comes back.
 */
export class ChangeQueue implements ReaderQueue {
  readonly #list: BoundedList;
  #reset: { missed: number | null } | null;

  /** @param startsBy the changes since a reader's position; null when they are gone */
  constructor(limits: QueueLimits, startsBy: readonly Told[] | null) {
    this.#list = new BoundedList(limits, false);
    this.#reset = startsBy === null ? { missed: null } : null;
    for (const told of startsBy ?? []) this.add(told);
  }

  add(told: Told): void {
    if (this.#reset !== null) {
      if (this.#reset.missed !== null) this.#reset.missed += 1;
      return;
    }
    if (this.#list.push(told)) return;
    this.#reset = { missed: this.#list.length + 1 };
    this.#list.clear();
  }

  pass(told: Told): FeedMessage {
    return messageOf(told);
  }

  take({ epoch, sequence }: { epoch: string; sequence: number }): FeedMessage | null {
    if (this.#reset !== null) {
      const { missed } = this.#reset;
      this.#reset = null;
      // Whatever was told up to now stands in the rows that the reader is about to read.
      return { kind: "reset", epoch, sequence, missed };
    }
    const told = this.#list.shift();
    return told === undefined ? null : messageOf(told);
  }

  clear(): void {
    this.#list.clear();
  }
}
