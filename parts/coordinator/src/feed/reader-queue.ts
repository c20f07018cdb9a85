import type { FeedMessage } from "@resontech/contracts/live-feed";
import type { QueuePool } from "./queue-pool.ts";
import type { Told } from "./told.ts";

/** What waits for one reader: bounded, and never shortened without a word. */
export interface ReaderQueue {
  add(told: Told): void;
  /** For a reader that waits: nothing is before it, and it takes no room. */
  pass(told: Told): FeedMessage;
  /** The next message, or null. @param now where the feed is */
  take(now: { epoch: string; sequence: number }): FeedMessage | null;
  clear(): void;
}

/** @property bytes for this reader alone */
export type QueueLimits = { bytes: number; pool: QueuePool };

export function messageOf({ sequence, at, change }: Told): FeedMessage {
  return { kind: "change", sequence, at, change };
}

/** Messages with what they cost, taken from the pool and given back to it. */
export class BoundedList {
  readonly #limits: QueueLimits;
  readonly #isLog: boolean;
  readonly #list: Told[] = [];
  #bytes = 0;

  constructor(limits: QueueLimits, isLog: boolean) {
    this.#limits = limits;
    this.#isLog = isLog;
  }

  get length(): number {
    return this.#list.length;
  }

  /** False when there is no room. */
  push(told: Told): boolean {
    const { bytes, pool } = this.#limits;
    if (this.#bytes + told.cost > bytes || !pool.hasRoom(told.cost, this.#isLog)) return false;
    this.#list.push(told);
    this.#bytes += told.cost;
    pool.take(told.cost);
    return true;
  }

  shift(): Told | undefined {
    const told = this.#list.shift();
    if (told === undefined) return undefined;
    this.#bytes -= told.cost;
    this.#limits.pool.give(told.cost);
    return told;
  }

  clear(): void {
    this.#limits.pool.give(this.#bytes);
    this.#list.length = 0;
    this.#bytes = 0;
  }
}
