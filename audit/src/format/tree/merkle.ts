/** RFC 6962 §2.1 hashing, and the tree's right edge. The verifier has its own. */
import { createHash, hash } from "node:crypto";

export const HASH_BYTES = 32;
/** Where two hashes are joined; none of it is kept. */
const NODE = Buffer.alloc(1 + 2 * HASH_BYTES, 0x01);
/** MTH({}) = SHA-256(""). */
const EMPTY_ROOT = createHash("sha256").digest();

/** Hashes by way of a string: a digest given as bytes has memory of its own, which costs more than hashing them. */
function sha256(bytes: Uint8Array): Buffer {
  return Buffer.from(hash("sha256", bytes, "latin1"), "latin1");
}

/** SHA-256(0x00 ‖ leaf) */
export function hashLeaf(leaf: Uint8Array): Buffer {
  const prefixed = Buffer.allocUnsafe(1 + leaf.length);
  prefixed[0] = 0x00;
  prefixed.set(leaf, 1);
  return sha256(prefixed);
}

/** SHA-256(0x01 ‖ left ‖ right) */
export function hashNode(left: Uint8Array, right: Uint8Array): Buffer {
  NODE.set(left, 1);
  NODE.set(right, 1 + HASH_BYTES);
  return sha256(NODE);
}

/**
 * The perfect subtrees that make up a tree of a given size, largest first: all that is needed to append and to know the root.
 */
export class Frontier {
  #size = 0;
  /** `#subtrees[k]` is the root of 2^k leaves, or undefined where that bit of the size is 0. */
  readonly #subtrees: (Buffer | undefined)[] = [];

  get size(): number {
    return this.#size;
  }

  append(leafHash: Buffer): void {
    let carried = leafHash;
    let level = 0;
    for (; this.#subtrees[level] !== undefined; level++) {
      carried = hashNode(this.#subtrees[level]!, carried);
      this.#subtrees[level] = undefined;
    }
    this.#subtrees[level] = carried;
    this.#size += 1;
  }

  /** Appends the root of a perfect subtree of `2^level` leaves; the size must be a multiple of that. */
  appendSubtree(root: Buffer, level: number): void {
    let carried = root;
    let at = level;
    for (; this.#subtrees[at] !== undefined; at++) {
      carried = hashNode(this.#subtrees[at]!, carried);
      this.#subtrees[at] = undefined;
    }
    this.#subtrees[at] = carried;
    this.#size += 2 ** level;
  }

  root(): Buffer {
    let root: Buffer | undefined;
    for (const subtree of this.#subtrees) {
      if (subtree === undefined) continue;
      root = root === undefined ? subtree : hashNode(subtree, root);
    }
    return root ?? EMPTY_ROOT;
  }
}

/** Root of the perfect subtree over the 256 hashes of a full tile. */
export function fullTileRoot(tile: Buffer): Buffer {
  let row: Buffer[] = [];
  for (let at = 0; at < tile.length; at += HASH_BYTES) row.push(tile.subarray(at, at + HASH_BYTES));
  while (row.length > 1) {
    const next: Buffer[] = [];
    for (let at = 0; at < row.length; at += 2) next.push(hashNode(row[at]!, row[at + 1]!));
    row = next;
  }
  return row[0]!;
}
