import type { FeedBounds } from "./bounds.ts";
import type { Told } from "./told.ts";

/** The newest changes in their order. Adding one costs the same however many there are. */
export class ChangeRing {
  readonly #entries: (Told | undefined)[];
  readonly #maxBytes: number;
  #first = 0;
  #count = 0;
  #bytes = 0;
  /** Up to this one they are gone. */
  #floor = 0;

  constructor({ ringEntries, ringBytes }: Pick<FeedBounds, "ringEntries" | "ringBytes">) {
    this.#entries = Array.from({ length: ringEntries });
    this.#maxBytes = ringBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(told: Told): void {
    while (
      this.#count === this.#entries.length ||
      (this.#count > 0 && this.#bytes + told.cost > this.#maxBytes)
    )
      this.#dropOldest();
    this.#entries[this.#slot(this.#count)] = told;
    this.#count += 1;
    this.#bytes += told.cost;
  }

  /** Everything after a sequence; null when some of that is gone. */
  after(sequence: number): Told[] | null {
    if (sequence < this.#floor) return null;
    const later: Told[] = [];
    for (let at = this.#firstAfter(sequence); at < this.#count; at++)
      later.push(this.#entries[this.#slot(at)]!);
    return later;
  }

  /** Index of the first with a higher sequence, by bisection. */
  #firstAfter(sequence: number): number {
    let from = 0;
    let to = this.#count;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.#entries[this.#slot(middle)]!.sequence > sequence) to = middle;
      else from = middle + 1;
    }
    return from;
  }

  #dropOldest(): void {
    const slot = this.#slot(0);
    const oldest = this.#entries[slot]!;
    this.#entries[slot] = undefined;
    this.#first = this.#slot(1);
    this.#count -= 1;
    this.#bytes -= oldest.cost;
    this.#floor = oldest.sequence;
  }

  #slot(index: number): number {
    return (this.#first + index) % this.#entries.length;
  }
}
