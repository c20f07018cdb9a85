/**
 * The RFC 6962 tree as the verifier itself builds it from entries, and the names of the files that an export must have
 * (C2SP tlog-tiles). Written apart from the writer's code, on purpose.
 */
import { sha256 } from "./sha256.ts";

const WIDTH = 256;

/** SHA-256(0x01 ‖ left ‖ right), RFC 6962 §2.1 */
function parentOf(left: Buffer, right: Buffer): Buffer {
  const bytes = Buffer.alloc(65, 0x01);
  left.copy(bytes, 1);
  right.copy(bytes, 33);
  return sha256(bytes);
}

/** Merkle Tree Hash of a list of hashes, split at the largest power of two below its length. */
function mergeRange(hashes: readonly Buffer[], from: number, to: number): Buffer {
  const count = to - from;
  if (count === 1) return hashes[from]!;
  let split = 1;
  while (split * 2 < count) split *= 2;
  return parentOf(mergeRange(hashes, from, from + split), mergeRange(hashes, from + split, to));
}

/** Collects leaf hashes and knows, for every level, the hashes of the tile that is being filled. */
export class VerifierTree {
  readonly #levels: Buffer[][] = [[]];
  /** The last full tile of each level, kept until its level's next one, to be compared with the file that follows. */
  readonly #lastFull: Buffer[][] = [];

  addLeaf(leafHash: Buffer): void {
    this.#add(0, leafHash);
  }

  #add(level: number, hash: Buffer): void {
    this.#levels[level] ??= [];
    const tile = this.#levels[level];
    tile.push(hash);
    if (tile.length < WIDTH) return;
    this.#levels[level] = [];
    this.#lastFull[level] = tile;
    this.#add(level + 1, mergeRange(tile, 0, WIDTH));
  }

  /** What the tile file of this level must hold now. */
  expectedTile(level: number, width: number): readonly Buffer[] {
    return (width === WIDTH ? this.#lastFull[level] : this.#levels[level]) ?? [];
  }

  root(): Buffer {
    let root: Buffer | null = null;
    for (const hashes of this.#levels) {
      if (hashes.length === 0) continue;
      // Right to left, smallest perfect subtrees first: what is to the right is always the smaller tree.
      let rest = hashes.length;
      while (rest > 0) {
        let block = 1;
        while (rest % (block * 2) === 0) block *= 2;
        const subtree = mergeRange(hashes, rest - block, rest);
        root = root === null ? subtree : parentOf(subtree, root);
        rest -= block;
      }
    }
    return root ?? sha256(Buffer.alloc(0));
  }
}

export type ExpectedFile = { name: string; kind: "entries" | "tile"; level: number; tile: number; width: number };

/** The files of a tree of `size` leaves in the one order that is accepted. */
export function* expectedFiles(size: number): Generator<ExpectedFile> {
  const counts: number[] = [];
  for (let count = size; count > 0; count = Math.floor(count / WIDTH)) counts.push(count);
  for (let tile = 0; (tile + 1) * WIDTH <= size; tile++) {
    yield expected("entries", 0, tile, WIDTH);
    for (let level = 0, done = tile + 1; ; level++) {
      yield expected("tile", level, done - 1, WIDTH);
      if (done % WIDTH !== 0) break;
      done /= WIDTH;
    }
  }
  if (size % WIDTH !== 0) yield expected("entries", 0, Math.floor(size / WIDTH), size % WIDTH);
  for (const [level, count] of counts.entries())
    if (count % WIDTH !== 0) yield expected("tile", level, Math.floor(count / WIDTH), count % WIDTH);
}

function expected(kind: "entries" | "tile", level: number, tile: number, width: number): ExpectedFile {
  const digits = String(tile).padStart(Math.ceil(String(tile).length / 3) * 3, "0");
  const path = digits.replace(/[0-9]{3}(?=[0-9])/g, "x$&/");
  const folder = kind === "entries" ? "entries" : String(level);
  return { name: `tile/${folder}/${path}${width === WIDTH ? "" : `.p/${width}`}`, kind, level, tile, width };
}
