/**
 * One shard's tree as a reader believes it. It grows only when the entries that came, hashed again and appended to what was believed before,
 * give the root of the new checkpoint: a past that was changed can't, whoever signed it.
 */
import { setImmediate } from "node:timers/promises";
import {
  frontierOfEdge,
  LogDamagedError,
  LogReader,
} from "@resontech/audit/format/tree/log-reader";
import { hashLeaf, hashNode } from "@resontech/audit/format/tree/merkle";
import { hashesAtLevel, TILE_WIDTH } from "@resontech/audit/format/tree/tile-layout";
import type { TrustedCheckpoint } from "./trusted-checkpoint.ts";

/** The log's key has signed a tree that does not extend the one that was believed. Both notes together prove it to anybody. */
export class LogChangedError extends Error {
  override readonly name = "LogChangedError";
  readonly code = "log_changed";
  readonly believed: TrustedCheckpoint;
  readonly found: TrustedCheckpoint;

  constructor(believed: TrustedCheckpoint, found: TrustedCheckpoint, what: string) {
    super(`${found.origin}: ${what} (believed ${believed.size} entries, found ${found.size})`);
    this.believed = believed;
    this.found = found;
  }
}

/** What is believed at one moment; it is replaced, never changed, so that a reader keeps the one that it began with. */
type View = {
  checkpoint: TrustedCheckpoint;
  /** Hashes of the partial tile of each level: the right edge, from which everything below is proven. */
  edge: readonly (readonly Buffer[])[];
};

/** Proven tiles that are kept, 8 KiB each: consumers read forward, side by side. */
const KEPT_TILES = 64;

export class VerifiedTree {
  readonly #reader: LogReader;
  readonly #kept = new Map<string, readonly Buffer[]>();
  #view: View;

  private constructor(logDir: string, view: View) {
    this.#reader = new LogReader(logDir);
    this.#view = view;
  }

  /** The tree before its first entry: everything is still to be read. */
  static empty(logDir: string, origin: string): VerifiedTree {
    return new VerifiedTree(logDir, {
      checkpoint: { origin, size: 0, root: frontierOfEdge([]).root(), note: "" },
      edge: [],
    });
  }

  /** Takes up a tree that an earlier life believed. @throws LogDamagedError when the files do not give its root any more */
  static async resume(logDir: string, believed: TrustedCheckpoint): Promise<VerifiedTree> {
    const edge = await new LogReader(logDir).readRightEdge(believed.size);
    if (!frontierOfEdge(edge).root().equals(believed.root))
      throw new LogDamagedError(
        0,
        `the tiles do not give the root that ${believed.origin} had with ${believed.size} entries`,
      );
    return new VerifiedTree(logDir, { checkpoint: believed, edge });
  }

  get checkpoint(): TrustedCheckpoint {
    return this.#view.checkpoint;
  }

  get size(): number {
    return this.#view.checkpoint.size;
  }

  /**
   * Believes a newer checkpoint. Memory is a tile of each level, whatever came.
   * @throws {@link LogChangedError}
   * @throws LogDamagedError when files are missing, or entries are not what their tile says
   */
  async extendTo(next: TrustedCheckpoint, signal: AbortSignal): Promise<void> {
    const believed = this.#view.checkpoint;
    if (next.size < believed.size)
      throw new LogChangedError(believed, next, "the log has become shorter");
    const edge = this.#view.edge.map((hashes) => [...hashes]);
    for (let size = believed.size; size < next.size; ) {
      signal.throwIfAborted();
      const index = Math.floor(size / TILE_WIDTH);
      const width = Math.min(TILE_WIDTH, next.size - index * TILE_WIDTH);
      const hashes = (await this.#reader.readEntries(index, width)).map(hashLeaf);
      await this.#compareTile(index, hashes);
      for (const hash of hashes.slice(size % TILE_WIDTH)) pushHash(edge, 0, hash);
      size = index * TILE_WIDTH + width;
      await setImmediate();
    }
    if (!frontierOfEdge(edge).root().equals(next.root))
      throw new LogChangedError(believed, next, "a signed tree does not extend the one before it");
    this.#view = { checkpoint: next, edge };
  }

  /** The entries of one bundle with their hashes, each proven up to the believed root. @throws LogDamagedError */
  async readBundle(index: number): Promise<{ entries: Buffer[]; hashes: readonly Buffer[] }> {
    const view = this.#view;
    const hashes = await this.#provenHashes(0, index, view);
    const entries = await this.#reader.readEntries(index, hashes.length);
    for (const [at, entry] of entries.entries())
      checkHash(hashLeaf(entry), hashes[at]!, index * TILE_WIDTH + at);
    return { entries, hashes };
  }

  /** The first `width` hashes of one tile, proven. @throws LogDamagedError */
  async readTile(level: number, index: number, width: number): Promise<Buffer> {
    return Buffer.concat((await this.#provenHashes(level, index, this.#view)).slice(0, width));
  }

  /** Of the tree as it was with `size` entries, at most the believed one's. @throws LogDamagedError */
  async rootAt(size: number): Promise<Buffer> {
    return size === 0 ? frontierOfEdge([]).root() : await this.#rangeHash(0, size, this.#view);
  }

  /**
   * RFC 6962 §2.1.1: the audit path of a leaf in the tree of `size` entries, which is at most the believed one's.
   * @throws LogDamagedError
   */
  async auditPath(index: number, size: number): Promise<Buffer[]> {
    const view = this.#view;
    let start = 0;
    let end = size;
    const siblings: [start: number, end: number][] = [];
    while (end - start > 1) {
      const middle = start + largestPowerBelow(end - start);
      siblings.push(index < middle ? [middle, end] : [start, middle]);
      if (index < middle) end = middle;
      else start = middle;
    }
    const path: Buffer[] = [];
    for (const [from, to] of siblings.reverse()) path.push(await this.#rangeHash(from, to, view));
    return path;
  }

  /** Root of the leaves `start…end`; they begin where a perfect subtree of their number, rounded up, would. */
  async #rangeHash(start: number, end: number, view: View): Promise<Buffer> {
    const count = end - start;
    const half = largestPowerBelow(count);
    if (count > 1 && half * 2 !== count)
      return hashNode(
        await this.#rangeHash(start, start + half, view),
        await this.#rangeHash(start + half, end, view),
      );
    const level = Math.floor(Math.log2(count) / 8);
    const unit = TILE_WIDTH ** level;
    const at = (start / unit) % TILE_WIDTH;
    const hashes = await this.#provenHashes(level, Math.floor(start / unit / TILE_WIDTH), view);
    return perfectRoot(hashes.slice(at, at + count / unit));
  }

  /** Hashes of one tile, full or partial, compared with its parent, and so on up to the right edge. */
  async #provenHashes(level: number, index: number, view: View): Promise<readonly Buffer[]> {
    const count = hashesAtLevel(view.checkpoint.size, level);
    if (index > Math.floor(count / TILE_WIDTH))
      throw new LogDamagedError(
        index * TILE_WIDTH ** (level + 1),
        `tile ${level}/${index} is beyond the believed tree`,
      );
    if ((index + 1) * TILE_WIDTH > count) return view.edge[level] ?? [];
    const name = `${level}/${index}`;
    const kept = this.#kept.get(name);
    if (kept !== undefined) return kept;
    const hashes = await this.#reader.readHashes(level, index, TILE_WIDTH);
    const parents = await this.#provenHashes(level + 1, Math.floor(index / TILE_WIDTH), view);
    if (parents[index % TILE_WIDTH]?.equals(perfectRoot(hashes)) !== true)
      throw new LogDamagedError(
        index * TILE_WIDTH ** (level + 1),
        `tile ${name} is not what the believed root says`,
      );
    if (this.#kept.size >= KEPT_TILES) this.#kept.delete(this.#kept.keys().next().value!);
    this.#kept.set(name, hashes);
    return hashes;
  }

  async #compareTile(index: number, hashes: readonly Buffer[]): Promise<void> {
    const tile = await this.#reader.readHashes(0, index, hashes.length);
    for (const [at, hash] of hashes.entries()) checkHash(hash, tile[at]!, index * TILE_WIDTH + at);
  }
}

function checkHash(hash: Buffer, expected: Buffer, index: number): void {
  if (!hash.equals(expected))
    throw new LogDamagedError(index, "an entry does not hash to its tile's value");
}

function pushHash(edge: Buffer[][], level: number, hash: Buffer): void {
  edge[level] ??= [];
  const tile = edge[level];
  tile.push(hash);
  if (tile.length < TILE_WIDTH) return;
  edge[level] = [];
  pushHash(edge, level + 1, perfectRoot(tile));
}

/** The largest power of two below `count`; 1 where there is none. */
function largestPowerBelow(count: number): number {
  let power = 1;
  while (power * 2 < count) power *= 2;
  return power;
}

function perfectRoot(hashes: readonly Buffer[]): Buffer {
  let row = [...hashes];
  while (row.length > 1)
    row = Array.from({ length: row.length / 2 }, (_, at) =>
      hashNode(row[2 * at]!, row[2 * at + 1]!),
    );
  return row[0]!;
}
