/** The first of many by an order, where only the first ever changes. */
export class Heap<T> {
  readonly #items: T[];
  readonly #comesBefore: (a: T, b: T) => boolean;

  /** @param comesBefore false of two that are equal: of those any may be first */
  constructor(items: Iterable<T>, comesBefore: (a: T, b: T) => boolean) {
    this.#items = [...items];
    this.#comesBefore = comesBefore;
    for (let at = (this.#items.length >> 1) - 1; at >= 0; at -= 1) this.#sink(at);
  }

  first(): T | null {
    return this.#items[0] ?? null;
  }

  /** In no order. */
  all(): Iterable<T> {
    return this.#items.values();
  }

  /** @param item null: nothing comes in its place */
  replaceFirst(item: T | null): void {
    const items = this.#items;
    const next = item ?? items.pop();
    if (next === undefined || items.length === 0) return;
    items[0] = next;
    this.#sink(0);
  }

  #sink(from: number): void {
    const items = this.#items;
    for (let at = from; ; ) {
      let first = at;
      for (const child of [2 * at + 1, 2 * at + 2])
        if (child < items.length && this.#comesBefore(items[child]!, items[first]!)) first = child;
      if (first === at) return;
      [items[first], items[at]] = [items[at]!, items[first]!];
      at = first;
    }
  }
}
