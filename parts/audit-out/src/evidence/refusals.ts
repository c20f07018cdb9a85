/** What was refused, counted by type and code, for a report that people read. */

export type RefusalKind = { type: string; code: string; count: number; first: string };

export class Refusals {
  /** As many as there are codes: each release has a closed set of them. */
  readonly #kinds = new Map<string, RefusalKind>();

  /** @param entry as `placeText` writes it */
  note(type: string, code: string, entry: string): void {
    const key = `${type}\n${code}`;
    const kind = this.#kinds.get(key);
    if (kind !== undefined) kind.count += 1;
    else this.#kinds.set(key, { type, code, count: 1, first: entry });
  }

  /** The most frequent first; of those that are as frequent, the one that was met first. */
  get kinds(): RefusalKind[] {
    return [...this.#kinds.values()].sort((a, b) => b.count - a.count);
  }
}
