/** Choices by one seeded generator. */
import { seededRandom } from "@resontech/house/seeded-random";

/** 2^32 by the golden ratio. */
const SPREAD = 0x9e3779b1;
const SEEDS_APART = 1_000_003;

export class Dice {
  readonly #random: () => number;

  constructor(seed: number) {
    // The generator's first numbers are alike for seeds that follow one another.
    this.#random = seededRandom(Math.imul(seed ^ (seed >>> 16), SPREAD));
  }

  /** For one input: seeds and numbers lie apart. */
  static numbered(seed: number, number: number): Dice {
    return new Dice(seed * SEEDS_APART + number);
  }

  /** 0 to `end` - 1; 0 for an `end` of 0. */
  below(end: number): number {
    return Math.floor(this.#random() * end);
  }

  chance(part: number): boolean {
    return this.#random() < part;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  /** 1 to `max` - 1, small ones often; 0 or 1 for a smaller `max`. */
  size(max: number): number {
    return Math.floor(max ** this.#random());
  }

  bytes(count: number): Buffer {
    return Buffer.from(Array.from({ length: count }, () => this.below(256)));
  }

  /** One of the things, each as often as its weight says. */
  weighted<T>(things: readonly (readonly [weight: number, thing: T])[]): T {
    let at = this.#random() * things.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, thing] of things) if ((at -= weight) < 0) return thing;
    return things.at(-1)![1];
  }
}
