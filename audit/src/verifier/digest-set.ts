/** A set of digests that takes sixteen bytes for each: of a million no two agree in their first eight by chance. */
const FIRST_SLOTS = 4_096;

export class DigestSet {
  /** Two words a slot; both zero where nothing is. */
  #words = new Uint32Array(2 * FIRST_SLOTS);
  size = 0;

  has(digest: Uint8Array): boolean {
    const [high, low] = wordsOf(digest);
    return !this.#isFree(this.#slotOf(high, low));
  }

  /** @param digest of eight bytes or more */
  add(digest: Uint8Array): void {
    const [high, low] = wordsOf(digest);
    const slot = this.#slotOf(high, low);
    if (!this.#isFree(slot)) return;
    this.#words[slot] = high;
    this.#words[slot + 1] = low;
    this.size += 1;
    if (this.size * 4 > this.#words.length) this.#grow();
  }

  /** Where these words stand, or belong. */
  #slotOf(high: number, low: number): number {
    const words = this.#words;
    let slot = (2 * high) % words.length;
    while (!this.#isFree(slot) && (words[slot] !== high || words[slot + 1] !== low)) slot = (slot + 2) % words.length;
    return slot;
  }

  #isFree(slot: number): boolean {
    return this.#words[slot] === 0 && this.#words[slot + 1] === 0;
  }

  #grow(): void {
    const before = this.#words;
    this.#words = new Uint32Array(2 * before.length);
    for (let at = 0; at < before.length; at += 2) {
      const [high, low] = [before[at]!, before[at + 1]!];
      if (high === 0 && low === 0) continue;
      const slot = this.#slotOf(high, low);
      this.#words[slot] = high;
      this.#words[slot + 1] = low;
    }
  }
}

function wordsOf(digest: Uint8Array): [high: number, low: number] {
  const word = (at: number): number =>
    ((digest[at]! << 24) | (digest[at + 1]! << 16) | (digest[at + 2]! << 8) | digest[at + 3]!) >>> 0;
  const [high, low] = [word(0), word(4)];
  return [high, high === 0 && low === 0 ? 1 : low];
}
