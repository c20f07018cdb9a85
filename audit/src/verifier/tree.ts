/**
 * The RFC 6962 tree as the verifier itself builds it from entries, and the names of the files that an export must have
 * (C2SP tlog-tiles). Written apart from the writer's code, on purpose.
 */
import type { Platform } from "./platform.ts";

const WIDTH = 256;
/** A tile's root is the subtree of 2^8 hashes below it. */
const TILE_HEIGHT = 8;
/** Where two hashes are joined; none of it is kept. */
const NODE = new Uint8Array(65).fill(0x01);

/** The perfect subtrees that make up a tree: all that its root needs of its leaves. */
export class Subtrees {
  readonly #sha256: Platform["sha256"];
  readonly #subtrees: (Uint8Array | null)[] = [];
  readonly #onSubtree: ((height: number, root: Uint8Array) => void) | null;
  size = 0;

  /** @param onSubtree told of each subtree when it is whole, leaves among them, as one of height 0 */
  constructor(sha256: Platform["sha256"], onSubtree: ((height: number, root: Uint8Array) => void) | null = null) {
    this.#sha256 = sha256;
    this.#onSubtree = onSubtree;
  }

  add(leafHash: Uint8Array): void {
    let carried = leafHash;
    let height = 0;
    this.#onSubtree?.(0, carried);
    for (; this.#subtrees[height] != null; height++) {
      carried = this.#parent(this.#subtrees[height]!, carried);
      this.#subtrees[height] = null;
      this.#onSubtree?.(height + 1, carried);
    }
    this.#subtrees[height] = carried;
    this.size += 1;
  }

  /** MTH of the leaves so far. */
  root(): Uint8Array {
    let root: Uint8Array | null = null;
    // What is to the right is always the smaller tree.
    for (const subtree of this.#subtrees) if (subtree !== null) root = root === null ? subtree : this.#parent(subtree, root);
    return root ?? this.#sha256(new Uint8Array(0));
  }

  /** SHA-256(0x01 ‖ left ‖ right), RFC 6962 §2.1 */
  #parent(left: Uint8Array, right: Uint8Array): Uint8Array {
    NODE.set(left, 1);
    NODE.set(right, 33);
    return this.#sha256(NODE);
  }
}

/** The tree with the tiles over it: for every level the hashes of the one that is being filled, which are the subtrees of 256^level leaves. */
export class VerifierTree {
  readonly #subtrees: Subtrees;
  readonly #tiles: Uint8Array[][] = [[]];
  /** The last full tile of each level, kept until its level's next one, to be compared with the file that follows. */
  readonly #lastFull: Uint8Array[][] = [];

  constructor(sha256: Platform["sha256"]) {
    this.#subtrees = new Subtrees(sha256, (height, root) => {
      if (height % TILE_HEIGHT === 0) this.#addToTile(height / TILE_HEIGHT, root);
    });
  }

  get size(): number {
    return this.#subtrees.size;
  }

  addLeaf(leafHash: Uint8Array): void {
    this.#subtrees.add(leafHash);
  }

  root(): Uint8Array {
    return this.#subtrees.root();
  }

  /** What the tile file of this level must hold now. */
  expectedTile(level: number, width: number): readonly Uint8Array[] {
    return (width === WIDTH ? this.#lastFull[level] : this.#tiles[level]) ?? [];
  }

  #addToTile(level: number, hash: Uint8Array): void {
    this.#tiles[level] ??= [];
    const tile = this.#tiles[level];
    if (tile.push(hash) < WIDTH) return;
    this.#lastFull[level] = tile;
    this.#tiles[level] = [];
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

/** The bundle that a tile of level 0 is about. */
export function entriesOf({ name }: ExpectedFile): string {
  return `tile/entries${name.slice("tile/0".length)}`;
}

/** `disclosures/<N>` goes with `tile/entries/<N>`. */
export function disclosuresOf({ name }: ExpectedFile): string {
  return `disclosures${name.slice("tile/entries".length)}`;
}

function expected(kind: "entries" | "tile", level: number, tile: number, width: number): ExpectedFile {
  const digits = String(tile).padStart(Math.ceil(String(tile).length / 3) * 3, "0");
  const path = digits.replace(/[0-9]{3}(?=[0-9])/g, "x$&/");
  const folder = kind === "entries" ? "entries" : String(level);
  return { name: `tile/${folder}/${path}${width === WIDTH ? "" : `.p/${width}`}`, kind, level, tile, width };
}
