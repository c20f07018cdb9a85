/** A file's lines, each in memory of its own. */
import { concat } from "./bytes.ts";
import { Refused } from "./note.ts";

const LINE_BREAK = 0x0a;

/** @throws {@link Refused} for a line that is longer; a last one may lack its break */
export async function* linesOf(
  pieces: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  let begun: Uint8Array = new Uint8Array(0);
  for await (const piece of pieces) {
    let from = 0;
    for (;;) {
      const end = piece.indexOf(LINE_BREAK, from);
      const line = concat(begun, piece.subarray(from, end === -1 ? undefined : end));
      if (line.length > maxBytes) throw new Refused(`a line is longer than ${maxBytes} bytes`);
      if (end === -1) {
        begun = line;
        break;
      }
      begun = new Uint8Array(0);
      from = end + 1;
      yield line;
    }
  }
  if (begun.length > 0) yield begun;
}
