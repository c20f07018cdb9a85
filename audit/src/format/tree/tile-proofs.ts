/** RFC 6962 §2.1.1 and §2.1.2 from the tiles of a folder, reading only what the proof needs. */
import type { LogReader } from "./log-reader.ts";
import { Frontier } from "./merkle.ts";
import { splitOf } from "./proof-check.ts";
import { hashesAtLevel, TILE_WIDTH } from "./tile-layout.ts";

const TILE_LEVELS = 8;

export class TileProofs {
  readonly #reader: LogReader;
  readonly #size: number;

  /** @param size of the tree that the proofs are about; the files must hold at least as many leaves */
  constructor(reader: LogReader, size: number) {
    this.#reader = reader;
    this.#size = size;
  }

  /** That the tree of `oldSize` leaves is the beginning of this one; empty for the empty tree and for this one. @throws LogDamagedError */
  async consistency(oldSize: number): Promise<Buffer[]> {
    if (oldSize > this.#size)
      throw new RangeError(`a tree of ${oldSize} leaves is no beginning of one of ${this.#size}`);
    return oldSize === 0 ? [] : this.#subproof(oldSize, 0, this.#size, true);
  }

  /** From the sibling of the leaf at `index` up to the root's child. @throws LogDamagedError */
  async inclusion(index: number): Promise<Buffer[]> {
    if (index >= this.#size)
      throw new RangeError(`there is no leaf ${index} in a tree of ${this.#size}`);
    return this.#path(index, 0, this.#size);
  }

  /** Root of the leaves `from…to`. @throws LogDamagedError */
  async root(from = 0, to = this.#size): Promise<Buffer> {
    const frontier = new Frontier();
    for (let at = from; at < to; ) {
      const height = Math.min(alignment(at - from), Math.floor(log2(to - at)));
      frontier.appendSubtree(await this.#subtree(at, height), height);
      at += 2 ** height;
    }
    return frontier.root();
  }

  async #subproof(oldSize: number, from: number, to: number, isKnown: boolean): Promise<Buffer[]> {
    if (oldSize === to - from) return isKnown ? [] : [await this.root(from, to)];
    const left = splitOf(to - from);
    return oldSize <= left
      ? [
          ...(await this.#subproof(oldSize, from, from + left, isKnown)),
          await this.root(from + left, to),
        ]
      : [
          ...(await this.#subproof(oldSize - left, from + left, to, false)),
          await this.root(from, from + left),
        ];
  }

  async #path(index: number, from: number, to: number): Promise<Buffer[]> {
    if (to - from === 1) return [];
    const left = splitOf(to - from);
    return index < from + left
      ? [...(await this.#path(index, from, from + left)), await this.root(from + left, to)]
      : [...(await this.#path(index, from + left, to)), await this.root(from, from + left)];
  }

  /** Root of the `2^height` leaves from `first` on: the hashes of one tile, hashed up. */
  async #subtree(first: number, height: number): Promise<Buffer> {
    const level = Math.floor(height / TILE_LEVELS);
    const count = 2 ** (height % TILE_LEVELS);
    const start = first / TILE_WIDTH ** level;
    const tile = Math.floor(start / TILE_WIDTH);
    const width = Math.min(TILE_WIDTH, hashesAtLevel(this.#size, level) - tile * TILE_WIDTH);
    const hashes = await this.#reader.readHashes(level, tile, width);
    const frontier = new Frontier();
    const at = start - tile * TILE_WIDTH;
    for (const hash of hashes.slice(at, at + count)) frontier.append(hash);
    return frontier.root();
  }
}

/** The largest `k` so that `2^k` divides `n`. */
function alignment(n: number): number {
  if (n === 0) return Number.MAX_SAFE_INTEGER;
  let height = 0;
  for (let rest = n; rest % 2 === 0; rest /= 2) height += 1;
  return height;
}

/** Floor of the logarithm, exact where a float's is not. */
function log2(n: number): number {
  let height = 0;
  for (let power = 2; power <= n; power *= 2) height += 1;
  return height;
}
