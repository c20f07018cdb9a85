/** RFC 6962 proofs from the tiles of a log's folder, reading only the tiles that they need. */
import type { LogReader } from "./log-reader.ts";
import { hashNode } from "./merkle.ts";
import { hashesAtLevel, TILE_WIDTH } from "./tile-layout.ts";

/** A tile's root stands for 2^8 hashes below it. */
const TILE_HEIGHT = 8;

/** Roots of subtrees of one tree, by the tiles; keeps the tiles that it read. */
class Subtrees {
  readonly #reader: LogReader;
  readonly #size: number;
  readonly #tiles = new Map<string, Buffer[]>();

  constructor(reader: LogReader, size: number) {
    this.#reader = reader;
    this.#size = size;
  }

  /** MTH of the leaves `from` to `to - 1`, where `from` is a multiple of the largest power of two below their number (RFC 6962 §2.1). */
  async root(from: number, to: number): Promise<Buffer> {
    const count = to - from;
    const height = Math.log2(count);
    if (Number.isInteger(height) && height % TILE_HEIGHT === 0) return this.#stored(height / TILE_HEIGHT, from / count);
    const split = largestPowerBelow(count);
    return hashNode(await this.root(from, from + split), await this.root(from + split, to));
  }

  async #stored(level: number, at: number): Promise<Buffer> {
    const index = Math.floor(at / TILE_WIDTH);
    const key = `${level}/${index}`;
    let tile = this.#tiles.get(key);
    if (tile === undefined) {
      const width = Math.min(TILE_WIDTH, hashesAtLevel(this.#size, level) - index * TILE_WIDTH);
      tile = await this.#reader.readHashes(level, index, width);
      this.#tiles.set(key, tile);
    }
    return tile[at % TILE_WIDTH]!;
  }
}

/** PATH(index, D[size]) of RFC 6962 §2.1.1. @throws RangeError outside the tree, LogDamagedError for a tile that is missing */
export async function inclusionProof(reader: LogReader, index: number, size: number): Promise<Buffer[]> {
  if (index < 0 || index >= size) throw new RangeError(`a tree of ${size} leaves has no leaf ${index}`);
  const subtrees = new Subtrees(reader, size);
  const path = async (from: number, to: number): Promise<Buffer[]> => {
    if (to - from === 1) return [];
    const middle = from + largestPowerBelow(to - from);
    return index < middle
      ? [...(await path(from, middle)), await subtrees.root(middle, to)]
      : [...(await path(middle, to)), await subtrees.root(from, middle)];
  };
  return path(0, size);
}

/**
 * PROOF(oldSize, D[size]) of RFC 6962 §2.1.2; empty when either is the whole of the other, or the older tree is empty.
 * @throws RangeError when the older tree is the larger one, LogDamagedError for a tile that is missing
 */
export async function consistencyProof(reader: LogReader, oldSize: number, size: number): Promise<Buffer[]> {
  if (oldSize < 0 || oldSize > size) throw new RangeError(`a tree of ${size} leaves has no beginning of ${oldSize}`);
  if (oldSize === 0 || oldSize === size) return [];
  const subtrees = new Subtrees(reader, size);
  const subproof = async (from: number, to: number, isWhole: boolean): Promise<Buffer[]> => {
    if (oldSize === to) return isWhole ? [] : [await subtrees.root(from, to)];
    const middle = from + largestPowerBelow(to - from);
    return oldSize <= middle
      ? [...(await subproof(from, middle, isWhole)), await subtrees.root(middle, to)]
      : [...(await subproof(middle, to, false)), await subtrees.root(from, middle)];
  };
  return subproof(0, size, true);
}

/** Largest power of two smaller than `count`, which is at least 2. */
function largestPowerBelow(count: number): number {
  let power = 1;
  while (power * 2 < count) power *= 2;
  return power;
}
