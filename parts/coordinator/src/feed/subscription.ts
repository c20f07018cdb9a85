import type { FeedMessage, FeedPosition } from "@resontech/contracts/live-feed";
import type { ReaderQueue } from "./reader-queue.ts";
import { isShown, type Reach, type Told } from "./told.ts";

export type SubscriptionParts = {
  queue: ReaderQueue;
  reach: Reach;
  position: () => FeedPosition;
  /** Called once, when nobody reads any more. */
  leave: (subscription: Subscription) => void;
  signal: AbortSignal | undefined;
};

/** One reader of one topic, for one loop: `for await` leaves the feed however the loop ends, and so do disposing it and the signal. */
export class Subscription implements AsyncIterableIterator<FeedMessage>, Disposable {
  readonly #parts: SubscriptionParts;
  readonly #end = () => this[Symbol.dispose]();
  #isOver = false;
  #waiting: ((result: IteratorResult<FeedMessage>) => void)[] = [];

  constructor(parts: SubscriptionParts) {
    this.#parts = parts;
    parts.signal?.addEventListener("abort", this.#end, { once: true });
  }

  /** Whoever publishes calls this; what the reader may not see passes by. */
  offer(told: Told): void {
    const { queue, reach } = this.#parts;
    if (this.#isOver || !isShown(told, reach)) return;
    const resolve = this.#waiting.shift();
    if (resolve === undefined) queue.add(told);
    else resolve({ done: false, value: queue.pass(told) });
  }

  next(): Promise<IteratorResult<FeedMessage>> {
    if (this.#isOver) return Promise.resolve({ done: true, value: undefined });
    const message = this.#waiting.length === 0 ? this.#take() : null;
    if (message !== null) return Promise.resolve({ done: false, value: message });
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  return(): Promise<IteratorResult<FeedMessage>> {
    this[Symbol.dispose]();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  [Symbol.dispose](): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { queue, leave, signal } = this.#parts;
    signal?.removeEventListener("abort", this.#end);
    queue.clear();
    leave(this);
    for (const resolve of this.#waiting) resolve({ done: true, value: undefined });
    this.#waiting = [];
  }

  #take(): FeedMessage | null {
    return this.#parts.queue.take(this.#parts.position());
  }
}
