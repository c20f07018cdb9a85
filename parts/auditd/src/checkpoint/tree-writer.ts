/**
 * Grows the files of the log: entry bundles and tiles, full ones when full, partial ones only for the sizes that it is asked for.
 *
 * Two accounts of the tree are kept apart on purpose: its right edge in memory, from the leaves as they came, and the files. After
 * each growth the files are read back, their entries hashed again, and their root must be the edge's before anybody signs.
 */
import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import {
  removeLeftovers,
  syncFolder,
  type WithRoom,
  writeImmutable,
} from "@resontech/frame/durable-file";
import { encodeEntries } from "@resontech/audit/format/tree/entry-bundle";
import {
  frontierOfEdge,
  LogDamagedError,
  LogReader,
} from "@resontech/audit/format/tree/log-reader";
import { fullTileRoot, hashLeaf } from "@resontech/audit/format/tree/merkle";
import { TILE_WIDTH, type TileName, tilePath } from "@resontech/audit/format/tree/tile-layout";

type PlannedFile = { name: TileName; content: Buffer };
/** At most so many files are synced side by side: fewer than auditd has threads, so that the write-ahead log's own syncs find a free one. */
export const PARALLEL_WRITES = 16;
/** Bundles that are read back side by side. */
const PARALLEL_READS = 8;

export class TreeWriter {
  readonly #logDir: string;
  readonly #reader: LogReader;
  readonly #withRoom: WithRoom;
  readonly #knownFolders = new Set<string>();
  #size: number;
  /** Entries of the last, partial bundle. */
  #entries: Buffer[];
  /** Hashes of the partial tile of each level. */
  #edge: Buffer[][];

  private constructor(
    logDir: string,
    withRoom: WithRoom,
    size: number,
    entries: Buffer[],
    edge: Buffer[][],
  ) {
    this.#logDir = logDir;
    this.#withRoom = withRoom;
    this.#reader = new LogReader(logDir);
    this.#entries = entries;
    this.#edge = edge;
    this.#size = size;
  }

  /** Takes up a tree of `size` leaves from its files. @throws {@link LogDamagedError} */
  static async open(logDir: string, size: number, withRoom: WithRoom): Promise<TreeWriter> {
    const reader = new LogReader(logDir);
    const edge = await reader.readRightEdge(size);
    const width = size % TILE_WIDTH;
    const entries =
      width === 0 ? [] : await reader.readEntries(Math.floor(size / TILE_WIDTH), width);
    checkEntries(entries, edge[0] ?? [], size - width);
    return new TreeWriter(logDir, withRoom, size, entries, edge);
  }

  get size(): number {
    return this.#size;
  }

  root(): Buffer {
    return frontierOfEdge(this.#edge).root();
  }

  /**
   * Appends leaves and makes the tree's files of the new size durable.
   * @returns what removes the partial files that full ones have replaced; call it once a checkpoint of the new size is durable
   * @throws {@link LogDamagedError} when the files do not give the root in memory
   */
  async grow(leaves: readonly { leaf: Buffer; leafHash: Buffer }[]): Promise<() => Promise<void>> {
    const before = this.#size;
    const full: PlannedFile[] = [];
    for (const [at, { leaf, leafHash }] of leaves.entries()) {
      this.#size += 1;
      this.#entries.push(leaf);
      this.#pushHash(0, leafHash, full);
      // The event loop must turn: producers wait for acknowledgements while a checkpoint is being made.
      if (at % TILE_WIDTH === TILE_WIDTH - 1) await setImmediate();
    }
    await this.#write([...full, ...this.#partialFiles()]);
    await this.#verifyFrom(before, full);
    return () => this.#removeReplaced(full);
  }

  #pushHash(level: number, hash: Buffer, full: PlannedFile[]): void {
    this.#edge[level] ??= [];
    const tile = this.#edge[level];
    tile.push(hash);
    if (tile.length < TILE_WIDTH) return;
    const index = this.#size / TILE_WIDTH ** (level + 1) - 1;
    if (level === 0) {
      full.push({
        name: { level: "entries", index, width: TILE_WIDTH },
        content: encodeEntries(this.#entries),
      });
      this.#entries = [];
    }
    const content = Buffer.concat(tile);
    full.push({ name: { level, index, width: TILE_WIDTH }, content });
    this.#edge[level] = [];
    this.#pushHash(level + 1, fullTileRoot(content), full);
  }

  #partialFiles(): PlannedFile[] {
    const files: PlannedFile[] = [];
    const size = this.#size;
    if (this.#entries.length > 0) {
      const name: TileName = {
        level: "entries",
        index: Math.floor(size / TILE_WIDTH),
        width: this.#entries.length,
      };
      files.push({ name, content: encodeEntries(this.#entries) });
    }
    for (const [level, tile] of this.#edge.entries()) {
      if (tile.length === 0) continue;
      const index = Math.floor(size / TILE_WIDTH ** (level + 1));
      files.push({ name: { level, index, width: tile.length }, content: Buffer.concat(tile) });
    }
    return files;
  }

  async #write(files: readonly PlannedFile[]): Promise<void> {
    const folders = new Set<string>();
    for (const { name } of files)
      await this.#makeFolder(dirname(join(this.#logDir, tilePath(name))), folders);
    const queue = files.values();
    const writeNext = async (): Promise<void> => {
      for (const { name, content } of queue) {
        const path = join(this.#logDir, tilePath(name));
        await this.#withRoom(() => writeImmutable(path, content));
        folders.add(dirname(path));
      }
    };
    await Promise.all(Array.from({ length: PARALLEL_WRITES }, writeNext));
    for (const folder of folders) await syncFolder(folder);
  }

  /** Adds to `folders` each one whose list of names may not be durable: a life that was killed may have changed it and not synced it. */
  async #makeFolder(folder: string, folders: Set<string>): Promise<void> {
    if (this.#knownFolders.has(folder) || folder === this.#logDir) return;
    await this.#makeFolder(dirname(folder), folders);
    const made = await this.#withRoom(() => mkdir(folder, { recursive: true, mode: 0o750 }));
    // A life that was killed was writing where this one goes on.
    if (made === undefined) await removeLeftovers(folder);
    folders.add(dirname(folder));
    this.#knownFolders.add(folder);
  }

  /** Reads back what was written for leaves `before…size` and compares entries, tiles, levels and root. */
  async #verifyFrom(before: number, full: readonly PlannedFile[]): Promise<void> {
    const size = this.#size;
    let next = Math.floor(before / TILE_WIDTH);
    const checkNext = async (): Promise<void> => {
      while (next * TILE_WIDTH < size) {
        const index = next++;
        const width = Math.min(TILE_WIDTH, size - index * TILE_WIDTH);
        const [entries, hashes] = await Promise.all([
          this.#reader.readEntries(index, width),
          this.#reader.readHashes(0, index, width),
        ]);
        checkEntries(entries, hashes, index * TILE_WIDTH);
      }
    };
    await Promise.all(Array.from({ length: PARALLEL_READS }, checkNext));
    const edge = await this.#reader.readRightEdge(size);
    for (const { name } of full) {
      if (name.level === "entries") continue;
      const parentIndex = Math.floor(name.index / TILE_WIDTH);
      const at = name.index % TILE_WIDTH;
      const parents = Math.floor(size / TILE_WIDTH ** (name.level + 1));
      const parent = await this.#reader.readHashes(
        name.level + 1,
        parentIndex,
        Math.min(TILE_WIDTH, parents - parentIndex * TILE_WIDTH),
      );
      if (!fullTileRoot(await this.#reader.read(name)).equals(parent[at]!))
        throw new LogDamagedError(
          name.index * TILE_WIDTH ** (name.level + 1),
          `${tilePath(name)} is not what its parent says`,
        );
    }
    const frontier = frontierOfEdge(edge);
    if (frontier.size !== size || !frontier.root().equals(this.root()))
      throw new LogDamagedError(before, "the root of the files is not the root in memory");
  }

  async #removeReplaced(full: readonly PlannedFile[]): Promise<void> {
    for (const { name } of full)
      await rm(`${join(this.#logDir, tilePath(name))}.p`, { recursive: true, force: true });
    for (const { name } of full)
      this.#knownFolders.delete(`${join(this.#logDir, tilePath(name))}.p`);
  }
}

/** @throws {@link LogDamagedError} naming the first entry whose hash is not the tile's */
export function checkEntries(
  entries: readonly Buffer[],
  hashes: readonly Buffer[],
  firstIndex: number,
): void {
  for (const [at, entry] of entries.entries()) {
    const expected = hashes[at];
    if (expected === undefined || !hashLeaf(entry).equals(expected))
      throw new LogDamagedError(firstIndex + at, "an entry does not hash to its tile's value");
  }
}
