/** RFC 6962 §2.1.1 and §2.1.2 read backwards: the roots that a proof leads to. The verifier has its own. */
import { HASH_BYTES, hashNode } from "./merkle.ts";

/** A tree of 2^53 leaves needs no more; tlog-witness allows 63 lines. */
export const MAX_PROOF_HASHES = 63;

/** Answers where a tree of `size > 1` leaves is split: the largest power of two below its size. */
export function splitOf(size: number): number {
  let left = 1;
  while (left * 2 < size) left *= 2;
  return left;
}

/** Whether the tree of `oldSize` leaves is the beginning of the tree of `newSize`. Of the empty tree, whose root says nothing, there is no proof. */
export function isConsistent(
  oldSize: number,
  oldRoot: Buffer,
  newSize: number,
  newRoot: Buffer,
  proof: readonly Buffer[],
): boolean {
  if (oldSize === 0 || oldSize > newSize || proof.length > MAX_PROOF_HASHES) return false;
  const rest = [...proof];
  const roots = rootsOf(oldSize, newSize, true, oldRoot, rest);
  return (
    roots !== null &&
    rest.length === 0 &&
    roots.before.equals(oldRoot) &&
    roots.after.equals(newRoot)
  );
}

/** Whether this leaf stands at `index` of the tree. */
export function isIncluded(
  index: number,
  leafHash: Buffer,
  size: number,
  root: Buffer,
  proof: readonly Buffer[],
): boolean {
  if (index >= size || proof.length > MAX_PROOF_HASHES || leafHash.length !== HASH_BYTES)
    return false;
  const rest = [...proof];
  const computed = rootAbove(index, leafHash, size, rest);
  return computed !== null && rest.length === 0 && computed.equals(root);
}

/** SUBPROOF: the outermost hash stands last. `isKnown`: the old tree's own root is at hand, and not in the proof. */
function rootsOf(
  oldSize: number,
  newSize: number,
  isKnown: boolean,
  oldRoot: Buffer,
  rest: Buffer[],
): { before: Buffer; after: Buffer } | null {
  if (oldSize === newSize) {
    const hash = isKnown ? oldRoot : rest.pop();
    return hash === undefined ? null : { before: hash, after: hash };
  }
  const outer = rest.pop();
  if (outer === undefined) return null;
  const left = splitOf(newSize);
  if (oldSize <= left) {
    const inner = rootsOf(oldSize, left, isKnown, oldRoot, rest);
    return inner === null ? null : { before: inner.before, after: hashNode(inner.after, outer) };
  }
  const inner = rootsOf(oldSize - left, newSize - left, false, oldRoot, rest);
  return inner === null
    ? null
    : { before: hashNode(outer, inner.before), after: hashNode(outer, inner.after) };
}

function rootAbove(index: number, leafHash: Buffer, size: number, rest: Buffer[]): Buffer | null {
  if (size === 1) return leafHash;
  const outer = rest.pop();
  if (outer === undefined) return null;
  const left = splitOf(size);
  const inner =
    index < left
      ? rootAbove(index, leafHash, left, rest)
      : rootAbove(index - left, leafHash, size - left, rest);
  if (inner === null) return null;
  return index < left ? hashNode(inner, outer) : hashNode(outer, inner);
}
