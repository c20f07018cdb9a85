/** Longer than an access token lives. */
const KEPT_MS = 10 * 60_000;
/** Of a whole appliance within that time; the oldest goes, and would be told of again. */
const MAX_TOKENS = 10_000;

/** Access tokens that came in already. A restart forgets them. */
export class SeenTokens {
  readonly #seen = new Map<string, number>();

  has(tokenId: string): boolean {
    return this.#seen.has(tokenId);
  }

  /** @param now Unix milliseconds */
  add(tokenId: string, now: number): void {
    for (const [id, at] of this.#seen) {
      if (now - at < KEPT_MS && this.#seen.size < MAX_TOKENS) break;
      this.#seen.delete(id);
    }
    this.#seen.set(tokenId, now);
  }
}
