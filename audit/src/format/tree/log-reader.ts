/** Reads the files of a tiled log as a tree of a given size has them. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { decodeEntries } from "./entry-bundle.ts";
import { Frontier, HASH_BYTES } from "./merkle.ts";
import { hashesAtLevel, TILE_WIDTH, type TileName, tilePath } from "./tile-layout.ts";

/** A file of the log is missing or is not what it must be; `index` is the first leaf that it leaves unproven. */
export class LogDamagedError extends Error {
  override readonly name = "LogDamagedError";
  readonly code = "log_damaged";
  readonly index: number;

  constructor(index: number, message: string) {
    super(`${message} (first leaf concerned: ${index})`);
    this.index = index;
  }
}

export class LogReader {
  readonly #logDir: string;

  constructor(logDir: string) {
    this.#logDir = logDir;
  }

  /**
   * The bytes of a tile, or of an entry bundle. A partial file may have gone once the full one came; its content is then the full one's start.
   * @throws {@link LogDamagedError}
   */
  async read(name: TileName): Promise<Buffer> {
    const exact = await this.#readIfPresent(name);
    if (exact !== null) return name.level === "entries" ? exact : this.#checkedTile(name, exact);
    const full =
      name.width === TILE_WIDTH ? null : await this.#readIfPresent({ ...name, width: TILE_WIDTH });
    if (full === null) throw this.#damaged(name, "is missing");
    if (name.level !== "entries")
      return this.#checkedTile(name, full.subarray(0, name.width * HASH_BYTES));
    const entries = decodeEntries(full);
    if (entries === null || entries.length < name.width)
      throw this.#damaged(name, "does not divide into entries");
    return full.subarray(
      0,
      entries.slice(0, name.width).reduce((sum, entry) => sum + 2 + entry.length, 0),
    );
  }

  /** The entries of one bundle, exactly `width` of them. @throws {@link LogDamagedError} */
  async readEntries(index: number, width: number): Promise<Buffer[]> {
    const name: TileName = { level: "entries", index, width };
    const entries = decodeEntries(await this.read(name));
    if (entries?.length !== width) throw this.#damaged(name, `does not hold ${width} entries`);
    return entries;
  }

  /** The hashes of one tile. @throws {@link LogDamagedError} */
  async readHashes(level: number, index: number, width: number): Promise<Buffer[]> {
    const tile = await this.read({ level, index, width });
    return Array.from({ length: width }, (_, at) =>
      tile.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES),
    );
  }

  /** The partial tiles of a tree, by level: its right edge. Levels whose tile is full or absent are empty. */
  async readRightEdge(size: number): Promise<Buffer[][]> {
    const edge: Buffer[][] = [];
    for (let level = 0; hashesAtLevel(size, level) > 0; level++) {
      const hashes = hashesAtLevel(size, level);
      const width = hashes % TILE_WIDTH;
      edge.push(
        width === 0 ? [] : await this.readHashes(level, Math.floor(hashes / TILE_WIDTH), width),
      );
    }
    return edge;
  }

  async #readIfPresent(name: TileName): Promise<Buffer | null> {
    try {
      return await readFile(join(this.#logDir, tilePath(name)));
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : null;
      if (code === "ENOENT") return null;
      // What the disk has lost is as gone as what somebody changed.
      if (code === "EIO") throw this.#damaged(name, "can't be read from its disk (EIO)");
      throw error;
    }
  }

  #checkedTile(name: TileName, bytes: Buffer): Buffer {
    if (bytes.length !== name.width * HASH_BYTES)
      throw this.#damaged(name, `has ${bytes.length} bytes`);
    return bytes;
  }

  #damaged(name: TileName, what: string): LogDamagedError {
    const level = name.level === "entries" ? 0 : name.level;
    return new LogDamagedError(name.index * TILE_WIDTH ** (level + 1), `${tilePath(name)} ${what}`);
  }
}

/** A tree of these right-edge tiles, lowest level first. */
export function frontierOfEdge(edge: readonly (readonly Buffer[])[]): Frontier {
  const frontier = new Frontier();
  for (let level = edge.length - 1; level >= 0; level--)
    for (const hash of edge[level]!) frontier.appendSubtree(hash, 8 * level);
  return frontier;
}
