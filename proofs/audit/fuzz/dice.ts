/** Choices by one seeded generator. */
import { seededRandom } from "../../measure/seeded-random.ts";

export class Dice {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
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

  /** Small ones often, large ones at times. */
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
