/**
 * Nodes by what they still offer: those with equally many free workers of each kind, room and ports lie in one bucket, and a gang looks at buckets, not at
 * nodes. A working copy of one cycle, in which nothing becomes free: no node comes back into a bucket that it left.
 */
import { compareIds } from "./compare-ids.ts";

export type NodeCell = {
  readonly id: string;
  /** How much room a hub finds, as a level of what gangs ask for. */
  readonly room: number;
  /** Free workers by the place of their kind. */
  readonly free: Map<number, number>;
  /** Whether it has a job port for members elsewhere, and one for the gateway. */
  hasPort: boolean;
  hasDoor: boolean;
  bucket: NodeBucket | null;
};

export class NodeBucket {
  readonly room: number;
  readonly hasPort: boolean;
  readonly hasDoor: boolean;
  /** Free workers of each of its nodes, by the place of their kind. */
  readonly free: readonly (readonly [kind: number, count: number])[];
  /** The first is the one with the lowest id, once it is a heap. Some may lie elsewhere by now. */
  #cells: NodeCell[] = [];
  #isHeap = false;
  #size = 0;

  constructor(cell: NodeCell, free: readonly (readonly [number, number])[]) {
    this.room = cell.room;
    this.hasPort = cell.hasPort;
    this.hasDoor = cell.hasDoor;
    this.free = free;
  }

  /** How many nodes lie in it. */
  get size(): number {
    return this.#size;
  }

  add(cell: NodeCell): void {
    if (cell.bucket !== null) cell.bucket.#size -= 1;
    cell.bucket = this;
    this.#size += 1;
    this.#cells.push(cell);
    if (this.#isHeap) this.#rise(this.#cells.length - 1);
  }

  /** The node with the lowest id; null when none is left. */
  first(): NodeCell | null {
    if (!this.#isHeap) {
      this.#cells = this.#cells.filter(({ bucket }) => bucket === this);
      for (let at = (this.#cells.length >> 1) - 1; at >= 0; at -= 1) this.#sink(at);
      this.#isHeap = true;
    }
    while (this.#cells.length > 0 && this.#cells[0]!.bucket !== this) {
      const last = this.#cells.pop()!;
      if (this.#cells.length === 0) break;
      this.#cells[0] = last;
      this.#sink(0);
    }
    return this.#cells[0] ?? null;
  }

  #rise(from: number): void {
    const cells = this.#cells;
    for (let at = from; at > 0; ) {
      const above = (at - 1) >> 1;
      if (compareIds(cells[above]!.id, cells[at]!.id) <= 0) return;
      [cells[above], cells[at]] = [cells[at]!, cells[above]!];
      at = above;
    }
  }

  #sink(from: number): void {
    const cells = this.#cells;
    for (let at = from; ; ) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2])
        if (child < cells.length && compareIds(cells[child]!.id, cells[least]!.id) < 0)
          least = child;
      if (least === at) return;
      [cells[least], cells[at]] = [cells[at]!, cells[least]!];
      at = least;
    }
  }
}

export class NodeBuckets {
  readonly #buckets = new Map<string, NodeBucket>();
  #changes = 0;

  /** How often a node was filed. */
  get changes(): number {
    return this.#changes;
  }

  all(): Iterable<NodeBucket> {
    return this.#buckets.values();
  }

  /** Once at first, and after each change of the cell. */
  file(cell: NodeCell): void {
    this.#changes += 1;
    let free: [kind: number, count: number][] = [];
    for (const [kind, count] of cell.free) if (count > 0) free.push([kind, count]);
    if (free.length > 1) free = free.toSorted(([a], [b]) => a - b);
    let key = `${cell.room}|${cell.hasPort}|${cell.hasDoor}|`;
    for (const [kind, count] of free) key += `${kind}:${count},`;
    let bucket = this.#buckets.get(key);
    if (bucket === undefined) this.#buckets.set(key, (bucket = new NodeBucket(cell, free)));
    if (cell.bucket !== bucket) bucket.add(cell);
  }
}
