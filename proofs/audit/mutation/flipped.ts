/** An export with one bit flipped, as a stream. The export itself is not changed: threads share it. */

/** What a file is read in. */
const PIECE = 131_072;

/** @param bit number of a byte times eight, plus the bit; null for the export as it is */
export async function* flipped(tar: Uint8Array, bit: number | null): AsyncGenerator<Uint8Array> {
  const at = bit === null ? -1 : Math.floor(bit / 8);
  for (let from = 0; from < tar.length; from += PIECE) {
    const piece = tar.subarray(from, from + PIECE);
    if (at < from || at >= from + piece.length) yield piece;
    else {
      const changed = Uint8Array.from(piece);
      changed[at - from]! ^= 1 << (bit! % 8);
      yield changed;
    }
  }
}
