/** Leaves of a tree by index. The last full bundle that was read is kept: a search goes through its entries one by one. */
import type { LogReader } from "./log-reader.ts";
import { TILE_WIDTH } from "./tile-layout.ts";

export class LeafReader {
  readonly #reader: LogReader;
  #last: { bundle: number; entries: Buffer[] } | null = null;

  constructor(reader: LogReader) {
    this.#reader = reader;
  }

  /** The leaf at `index` of the tree of `size` leaves. @throws LogDamagedError */
  async read(index: number, size: number): Promise<Buffer> {
    const bundle = Math.floor(index / TILE_WIDTH);
    const entries =
      this.#last?.bundle === bundle ? this.#last.entries : await this.#readBundle(bundle, size);
    return entries[index % TILE_WIDTH]!;
  }

  async #readBundle(bundle: number, size: number): Promise<Buffer[]> {
    const width = Math.min(TILE_WIDTH, size - bundle * TILE_WIDTH);
    const entries = await this.#reader.readEntries(bundle, width);
    if (width === TILE_WIDTH) this.#last = { bundle, entries };
    return entries;
  }
}
