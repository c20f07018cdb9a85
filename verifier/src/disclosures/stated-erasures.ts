/** What the entries of a log state of its own commitments: how many were erased, and the root over them. Of an entry as little as can be compared. */
import { fromHex, hex } from "../input/bytes.ts";
import type { Stated } from "./erasures.ts";
import { HASH_BYTES } from "../tree/tree.ts";

const FIRST = 64;
const HEX_32 = /^[0-9a-f]{64}$/;
/** In the place of a count: an erasure that says nothing of this log, or not how many. */
const [OF_OTHERS, UNSAID] = [-2, -1];

export class StatedErasures {
  #indices = new Float64Array(FIRST);
  #counts = new Float64Array(FIRST);
  /** Zeros where none is said that could be one. */
  #roots = new Uint8Array(FIRST * HASH_BYTES);
  size = 0;

  /** @param index above all that were added. @param stated null: it says nothing of this log */
  add(index: number, stated: Stated | null): void {
    if (this.size === this.#indices.length) this.#grow();
    this.#indices[this.size] = index;
    this.#counts[this.size] =
      stated === null ? OF_OTHERS : Math.max(stated.count ?? UNSAID, UNSAID);
    if (typeof stated?.root === "string" && HEX_32.test(stated.root))
      this.#roots.set(fromHex(stated.root), this.size * HASH_BYTES);
    this.size += 1;
  }

  /** Null where the entry says nothing of this log, or is no erasure. */
  of(index: number): Stated | null {
    let [low, high] = [0, this.size];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#indices[middle]! < index) low = middle + 1;
      else high = middle;
    }
    if (low === this.size || this.#indices[low] !== index || this.#counts[low] === OF_OTHERS)
      return null;
    const count = this.#counts[low]!;
    return {
      count: count === UNSAID ? null : count,
      root: hex(this.#roots.subarray(low * HASH_BYTES, (low + 1) * HASH_BYTES)),
    };
  }

  #grow(): void {
    const [indices, counts, roots] = [this.#indices, this.#counts, this.#roots];
    this.#indices = new Float64Array(2 * indices.length);
    this.#counts = new Float64Array(2 * counts.length);
    this.#roots = new Uint8Array(2 * roots.length);
    this.#indices.set(indices);
    this.#counts.set(counts);
    this.#roots.set(roots);
  }
}
