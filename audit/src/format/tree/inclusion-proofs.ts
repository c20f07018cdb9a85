/** RFC 6962 §2.1.1 for every leaf of a small tree that is at hand as a whole. Pure. */
import { Frontier, hashNode } from "./merkle.ts";
import { splitOf } from "./proof-check.ts";

/** @returns the root, and for each leaf its audit path, the leaf's sibling first */
export function inclusionProofs(hashes: readonly Buffer[]): { root: Buffer; paths: Buffer[][] } {
  const [only] = hashes;
  if (hashes.length < 2)
    return { root: only ?? new Frontier().root(), paths: hashes.map(() => []) };
  const split = splitOf(hashes.length);
  const [left, right] = [hashes.slice(0, split), hashes.slice(split)].map(inclusionProofs) as [
    ReturnType<typeof inclusionProofs>,
    ReturnType<typeof inclusionProofs>,
  ];
  return {
    root: hashNode(left.root, right.root),
    paths: [
      ...left.paths.map((path) => [...path, right.root]),
      ...right.paths.map((path) => [...path, left.root]),
    ],
  };
}
