/** Entries that a filter keeps: ascending indices, each as its distance from the one before, in one byte where that is short. */
const PIECE_BYTES = 65_536;
/** Of one distance below 2^53. */
const MAX_BYTES = 8;
const MORE = 0x80;

export class Population {
  readonly #pieces: Uint8Array[] = [];
  #end = PIECE_BYTES;
  #last = -1;
  size = 0;

  /** @param index above all that were added */
  add(index: number): void {
    if (this.#end + MAX_BYTES > PIECE_BYTES) {
      this.#pieces.push(new Uint8Array(PIECE_BYTES));
      this.#end = 0;
    }
    const piece = this.#pieces.at(-1)!;
    let distance = index - this.#last;
    for (; distance >= MORE; distance = Math.floor(distance / MORE))
      piece[this.#end++] = (distance % MORE) | MORE;
    piece[this.#end++] = distance;
    this.#last = index;
    this.size += 1;
  }

  /** The entries at these places, in their order. @param places below the size, in any order */
  at(places: readonly number[]): number[] {
    const wanted = new Map<number, number>(places.map((place) => [place, -1]));
    let place = 0;
    for (const index of this.#all()) {
      if (wanted.has(place)) wanted.set(place, index);
      place += 1;
    }
    return places.map((one) => wanted.get(one)!);
  }

  *#all(): Generator<number> {
    let index = -1;
    for (const piece of this.#pieces)
      for (let at = 0; at < PIECE_BYTES; ) {
        let distance = 0;
        let weight = 1;
        for (; piece[at]! >= MORE; weight *= MORE) distance += (piece[at++]! - MORE) * weight;
        distance += piece[at++]! * weight;
        // No distance is nothing: the rest of the piece is empty.
        if (distance === 0) break;
        index += distance;
        yield index;
      }
  }
}
