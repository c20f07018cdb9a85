import { hashNode } from "../../log/merkle.ts";

/** The root that an audit path leads to (RFC 9162 §2.1.3.2); null when its length is not that of a path in such a tree. */
export function rootOfPath(leafHash: Buffer, index: number, size: number, path: readonly Buffer[]): Buffer | null {
  let at = index;
  let last = size - 1;
  let root = leafHash;
  for (const sibling of path) {
    if (last === 0) return null;
    if (at % 2 === 1 || at === last) {
      root = hashNode(sibling, root);
      while (at % 2 === 0 && at !== 0) {
        at /= 2;
        last = Math.floor(last / 2);
      }
    } else root = hashNode(root, sibling);
    at = Math.floor(at / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 ? root : null;
}
