/** What a member printed, put together from its stored log and from what came live. Offsets are bytes. */
const MAX_LINES = 50_000;

type Piece = { offset: number; bytes: number; text: string | null };

export class LogText {
  /** The last one may be unfinished. */
  lines: string[] = [];
  /** Up to here it is shown. */
  #end = 0;
  #isBegun = false;
  /** Came before the stored end did. */
  #early: Piece[] = [];

  /** The end of the stored log: what was shown before it goes. */
  stored(offset: number, end: number, text: string): void {
    if (this.#isBegun && end <= this.#end) return;
    this.lines = [];
    this.#end = end;
    this.#isBegun = true;
    this.#add(offset > 0 ? text.slice(text.indexOf("\n") + 1) : text);
    const early = this.#early;
    this.#early = [];
    for (const piece of early) this.live(piece);
  }

  live(piece: Piece): void {
    if (!this.#isBegun) {
      this.#early.push(piece);
      return;
    }
    const { offset, bytes, text } = piece;
    if (offset + bytes <= this.#end) return;
    if (text === null || offset > this.#end)
      this.#add(
        `\n[${offset + bytes - this.#end} bytes are not shown live; the stored log has them]\n`,
      );
    if (text !== null) this.#add(offset >= this.#end ? text : fromByte(text, this.#end - offset));
    this.#end = offset + bytes;
  }

  #add(text: string): void {
    const [first = "", ...rest] = text.split("\n");
    const last = this.lines.pop() ?? "";
    this.lines.push(last + first, ...rest);
    if (this.lines.length > MAX_LINES) this.lines.splice(0, this.lines.length - MAX_LINES);
  }
}

/** Cuts so many bytes of its UTF-8 from the beginning of a text. */
function fromByte(text: string, bytes: number): string {
  return new TextDecoder().decode(new TextEncoder().encode(text).subarray(bytes));
}
