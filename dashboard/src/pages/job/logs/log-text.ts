/** What a member printed, put together from its stored log and from what came live. Offsets are bytes. */
const MAX_LINES = 50_000;

type Piece = { offset: number; bytes: number; text: string | null };

const ENCODER = new TextEncoder();

export class LogText {
  /** The last one may be unfinished. */
  lines: string[] = [];
  /** Where each line begins. */
  offsets: number[] = [];
  /** Lines that went from the front: a line keeps its number. */
  dropped = 0;
  /** Up to here it is shown. */
  #end = 0;
  #isBegun = false;
  /** Came before the stored end did. */
  #early: Piece[] = [];

  /** Before that an empty log is none. */
  get isBegun(): boolean {
    return this.#isBegun;
  }

  /** The end of the stored log: what was shown before it goes. */
  stored(offset: number, end: number, text: string): void {
    if (this.#isBegun && end <= this.#end) return;
    this.dropped += this.lines.length;
    this.lines = [];
    this.offsets = [];
    this.#isBegun = true;
    const isCut = offset > 0;
    const from = isCut ? text.indexOf("\n") + 1 : 0;
    // Bytes that are no UTF-8 have another length as text: what stands last is counted from the end.
    this.#add(text.slice(from), isCut ? end - bytesOf(text.slice(from)) : offset);
    this.#end = end;
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
        this.#end,
      );
    if (text !== null)
      this.#add(
        offset >= this.#end ? text : fromByte(text, this.#end - offset),
        Math.max(offset, this.#end),
      );
    this.#end = offset + bytes;
  }

  /** @param at where the text begins */
  #add(text: string, at: number): void {
    const [first = "", ...rest] = text.split("\n");
    const last = this.lines.pop();
    this.lines.push((last ?? "") + first);
    if (last === undefined) this.offsets.push(at);
    // Behind a gap the line that begins is another one.
    else if (last === "") this.offsets[this.offsets.length - 1] = at;
    let next = at + bytesOf(first) + 1;
    for (const line of rest) {
      this.lines.push(line);
      this.offsets.push(next);
      next += bytesOf(line) + 1;
    }
    const over = this.lines.length - MAX_LINES;
    if (over <= 0) return;
    this.lines.splice(0, over);
    this.offsets.splice(0, over);
    this.dropped += over;
  }
}

/** Cuts so many bytes of its UTF-8 from the beginning of a text. */
function fromByte(text: string, bytes: number): string {
  return new TextDecoder().decode(ENCODER.encode(text).subarray(bytes));
}

function bytesOf(text: string): number {
  // Most lines are plain: a character is a byte.
  return /^[\0-\x7f]*$/.test(text) ? text.length : ENCODER.encode(text).length;
}
