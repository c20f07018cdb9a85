/**
 * Numbers by digest, of which the first eight bytes are kept: of a million digests no two agree in them by chance. Whoever chooses what is looked for must
 * not know what its digest will be, else he has many stand in one place, where each look is a search of all.
 */
const FIRST_SLOTS = 4_096;
/** Words of a slot: the digest's two, both zero where nothing is, then the number. */
const DIGEST_WORDS = 2;

export class DigestTable {
  readonly #width: number;
  #words: Uint32Array;
  size = 0;

  /** @param holds a number of 32 bits for each digest, or nothing but whether it is there */
  constructor(holds: "numbers" | "nothing" = "nothing") {
    this.#width = holds === "numbers" ? DIGEST_WORDS + 1 : DIGEST_WORDS;
    this.#words = new Uint32Array(this.#width * FIRST_SLOTS);
  }

  has(digest: Uint8Array): boolean {
    const [high, low] = wordsOf(digest);
    return !this.#isFree(this.#slotOf(high, low));
  }

  /** Zero for one that is not there, or was added without a number. */
  numberOf(digest: Uint8Array): number {
    const [high, low] = wordsOf(digest);
    const slot = this.#slotOf(high, low);
    return this.#width > DIGEST_WORDS && !this.#isFree(slot)
      ? this.#words[slot + DIGEST_WORDS]!
      : 0;
  }

  /** @param digest of eight bytes or more */
  add(digest: Uint8Array, number: number = 0): void {
    const [high, low] = wordsOf(digest);
    const slot = this.#slotOf(high, low);
    if (this.#isFree(slot)) this.size += 1;
    this.#put(slot, high, low, number);
    // So full a million fit into as many places as there are just above a million, and a look is still quicker than a digest.
    if (this.size * 32 * this.#width > this.#words.length * 31)
      this.#renew(2 * this.#words.length, () => true);
  }

  /** Forgets those of other numbers. */
  keep(isKept: (number: number) => boolean): void {
    this.#renew(this.#words.length, isKept);
  }

  clear(): void {
    this.#words = new Uint32Array(this.#width * FIRST_SLOTS);
    this.size = 0;
  }

  /** Where these words stand, or belong. */
  #slotOf(high: number, low: number): number {
    const words = this.#words;
    let slot = (this.#width * high) % words.length;
    while (!this.#isFree(slot) && (words[slot] !== high || words[slot + 1] !== low))
      slot = (slot + this.#width) % words.length;
    return slot;
  }

  #isFree(slot: number): boolean {
    return this.#words[slot] === 0 && this.#words[slot + 1] === 0;
  }

  #put(slot: number, high: number, low: number, number: number): void {
    this.#words[slot] = high;
    this.#words[slot + 1] = low;
    if (this.#width > DIGEST_WORDS) this.#words[slot + DIGEST_WORDS] = number;
  }

  #renew(length: number, isKept: (number: number) => boolean): void {
    const before = this.#words;
    this.#words = new Uint32Array(length);
    this.size = 0;
    for (let at = 0; at < before.length; at += this.#width) {
      const [high, low] = [before[at]!, before[at + 1]!];
      const number = this.#width > DIGEST_WORDS ? before[at + DIGEST_WORDS]! : 0;
      if ((high === 0 && low === 0) || !isKept(number)) continue;
      this.#put(this.#slotOf(high, low), high, low, number);
      this.size += 1;
    }
  }
}

function wordsOf(digest: Uint8Array): [high: number, low: number] {
  const word = (at: number): number =>
    ((digest[at]! << 24) | (digest[at + 1]! << 16) | (digest[at + 2]! << 8) | digest[at + 3]!) >>>
    0;
  const [high, low] = [word(0), word(4)];
  return [high, high === 0 && low === 0 ? 1 : low];
}
