/** The tree over what is marked as erased by one entry: of ten thousand such trees each holds no more than its root needs. */
import { hex } from "../input/bytes.ts";
import type { Platform } from "../platform/platform.ts";
import { HASH_BYTES } from "../tree/tree.ts";

/** Of `0x01 ‖ left ‖ right`, RFC 6962 §2.1. */
const RIGHT = 1 + HASH_BYTES;
const node = new Uint8Array(RIGHT + HASH_BYTES).fill(0x01, 0, 1);

export class Marks {
  readonly #hashing: Pick<Platform, "sha256Into">;
  /** Roots of the perfect subtrees, from the largest. */
  #roots = new Uint8Array(HASH_BYTES);
  #count = 0;
  size = 0;

  constructor(hashing: Pick<Platform, "sha256Into">) {
    this.#hashing = hashing;
  }

  /** @param leaf with the 0x00 of its hash before it */
  add(leaf: Uint8Array): void {
    this.#hashing.sha256Into(leaf, node, RIGHT);
    for (let whole = this.size; whole % 2 === 1; whole = (whole - 1) / 2) this.#join(--this.#count);
    const at = this.#count * HASH_BYTES;
    if (at === this.#roots.length) {
      const grown = new Uint8Array(2 * at);
      grown.set(this.#roots);
      this.#roots = grown;
    }
    this.#roots.set(node.subarray(RIGHT), at);
    this.#count += 1;
    this.size += 1;
  }

  /** MTH of one leaf or more, in hex. */
  root(): string {
    const last = (this.#count - 1) * HASH_BYTES;
    node.set(this.#roots.subarray(last, last + HASH_BYTES), RIGHT);
    for (let at = this.#count - 2; at >= 0; at--) this.#join(at);
    return hex(node.subarray(RIGHT));
  }

  /** Of the subtree at this place and the one to the right of it the one that holds both. */
  #join(at: number): void {
    node.set(this.#roots.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES), 1);
    this.#hashing.sha256Into(node, node, RIGHT);
  }
}
