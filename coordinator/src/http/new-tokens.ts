/** Longer than an access token lives. */
const KEPT_MS = 10 * 60_000;
/** Of a whole appliance within that time; the oldest goes, and would be told of again. */
const MAX_TOKENS = 10_000;

/** Which access tokens were seen already. A restart forgets them. */
export class NewTokens {
  readonly #seen = new Map<string, number>();

  /** True once for each. @param now Unix milliseconds */
  isNew(tokenId: string, now: number): boolean {
    if (this.#seen.has(tokenId)) return false;
    for (const [id, at] of this.#seen) {
      if (now - at < KEPT_MS && this.#seen.size < MAX_TOKENS) break;
      this.#seen.delete(id);
    }
    this.#seen.set(tokenId, now);
    return true;
  }
}
