/**
 * The RFC 6962 tree as the verifier itself builds it from entries, and the names of the files that an export must have
 * (C2SP tlog-tiles). Written apart from the writer's code, on purpose.
 */
import { concat } from "../input/bytes.ts";
import type { Platform } from "../platform/platform.ts";

export const WIDTH = 256;
export const HASH_BYTES = 32;
/** A tile's root is the subtree of 2^8 hashes below it. */
const TILE_HEIGHT = 8;
/** Of `0x01 ‖ left ‖ right`, RFC 6962 §2.1. */
const LEFT = 1;
const RIGHT = LEFT + HASH_BYTES;
const NODE_BYTES = RIGHT + HASH_BYTES;

type Hashing = Pick<Platform, "sha256" | "sha256Into">;
/** Told of each subtree when it is whole, leaves among them, as those of height 0: where its hash stands until the next one. */
type OnSubtree = (height: number, node: Uint8Array, at: number) => void;

/** The perfect subtrees that make up a tree: all that its root needs of its leaves. */
export class Subtrees {
  readonly #hashing: Hashing;
  readonly #onSubtree: OnSubtree | null;
  /** By height, where two subtrees are joined: the left one waits there for the right one. */
  readonly #nodes: Uint8Array[] = [];
  size = 0;

  constructor(hashing: Hashing, onSubtree: OnSubtree | null = null) {
    this.#hashing = hashing;
    this.#onSubtree = onSubtree;
  }

  /** @param leaf with the 0x00 of its hash before it */
  add(leaf: Uint8Array): void {
    let hashed = leaf;
    for (let height = 0, place = this.size; ; height++, place = (place - 1) / 2) {
      const node = (this.#nodes[height] ??= new Uint8Array(NODE_BYTES).fill(0x01, 0, LEFT));
      const at = place % 2 === 0 ? LEFT : RIGHT;
      this.#hashing.sha256Into(hashed, node, at);
      this.#onSubtree?.(height, node, at);
      if (at === LEFT) break;
      hashed = node;
    }
    this.size += 1;
  }

  /** MTH of the leaves so far. */
  root(): Uint8Array {
    const { sha256 } = this.#hashing;
    let root: Uint8Array | null = null;
    // What is to the right is always the smaller tree.
    for (let height = 0, place = this.size; place > 0; height++, place = Math.floor(place / 2)) {
      if (place % 2 === 0) continue;
      const left = this.#nodes[height]!.subarray(0, RIGHT);
      root = root === null ? left.slice(LEFT) : sha256(concat(left, root));
    }
    return root ?? sha256(new Uint8Array(0));
  }
}

/** The tree with the tiles over it: of every level the one that is being filled, or was last, which holds subtrees of 256^level leaves. */
export class VerifierTree {
  readonly #subtrees: Subtrees;
  readonly #tiles: { hashes: Uint8Array; count: number }[] = [];

  constructor(hashing: Hashing) {
    this.#subtrees = new Subtrees(hashing, (height, node, at) => {
      if (height % TILE_HEIGHT === 0) this.#addToTile(height / TILE_HEIGHT, node, at);
    });
  }

  get size(): number {
    return this.#subtrees.size;
  }

  /** @param leaf with the 0x00 of its hash before it */
  add(leaf: Uint8Array): void {
    this.#subtrees.add(leaf);
  }

  root(): Uint8Array {
    return this.#subtrees.root();
  }

  /** What the newest tile file of this level must begin with; a full one stays until its level's next hash. */
  tile(level: number): Uint8Array {
    const tile = this.#tiles[level];
    return tile === undefined
      ? new Uint8Array(0)
      : tile.hashes.subarray(0, tile.count * HASH_BYTES);
  }

  #addToTile(level: number, node: Uint8Array, at: number): void {
    const tile = (this.#tiles[level] ??= { hashes: new Uint8Array(WIDTH * HASH_BYTES), count: 0 });
    if (tile.count === WIDTH) tile.count = 0;
    const from = tile.count * HASH_BYTES;
    for (let byte = 0; byte < HASH_BYTES; byte++) tile.hashes[from + byte] = node[at + byte]!;
    tile.count += 1;
  }
}

export type ExpectedFile = {
  name: string;
  kind: "entries" | "tile";
  level: number;
  tile: number;
  width: number;
};

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
    if (count % WIDTH !== 0)
      yield expected("tile", level, Math.floor(count / WIDTH), count % WIDTH);
}

/** The bundle that a tile of level 0 is about. */
export function entriesOf({ name }: ExpectedFile): string {
  return `tile/entries${name.slice("tile/0".length)}`;
}

/** `disclosures/<N>` goes with `tile/entries/<N>`. */
export function disclosuresOf({ name }: ExpectedFile): string {
  return `disclosures${name.slice("tile/entries".length)}`;
}

function expected(
  kind: "entries" | "tile",
  level: number,
  tile: number,
  width: number,
): ExpectedFile {
  const digits = String(tile).padStart(Math.ceil(String(tile).length / 3) * 3, "0");
  const path = digits.replace(/[0-9]{3}(?=[0-9])/g, "x$&/");
  const folder = kind === "entries" ? "entries" : String(level);
  return {
    name: `tile/${folder}/${path}${width === WIDTH ? "" : `.p/${width}`}`,
    kind,
    level,
    tile,
    width,
  };
}
