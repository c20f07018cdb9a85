/** More than any fleet's queue has shapes at a time; what is forgotten is found anew, and costs a comparison more. */
const MOST = 65_536;

/** Equal keys as one string, whoever made them. */
export class InternedKeys {
  readonly #known = new Map<string, string>();

  of(key: string): string {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (this.#known.size >= MOST) this.#known.clear();
    this.#known.set(key, key);
    return key;
  }
}
