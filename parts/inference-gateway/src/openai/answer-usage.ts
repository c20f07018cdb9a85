/** Pure: the usage of an answer that passes by in pieces, however long it is: the outermost object's field `usage`, and nothing that a model wrote. */
import { type Usage, usageOf } from "../openai-surface/usage.ts";

const FIELD = "usage";
const MAX_VALUE_BYTES = 4_096;
const MAX_KEY_BYTES = 32;
const at = (text: string): number => text.charCodeAt(0);
const [QUOTE, BACKSLASH, COLON, COMMA] = [at('"'), at("\\"), at(":"), at(",")];
const [OPENING, CLOSING] = [
  [at("{"), at("[")],
  [at("}"), at("]")],
];

export class AnswerUsage {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #isKeyNext = false;
  /** Bytes of the outermost object's key that is being read, or was read last. */
  #key: number[] | null = null;
  #lastKey = "";
  #value: number[] | null = null;
  #usage: Usage | null = null;

  /** Null while none was seen. */
  get usage(): Usage | null {
    return this.#usage;
  }

  push(piece: Buffer): void {
    for (let from = 0; from < piece.length; from++) {
      // Most of an answer is what a model wrote: of such a text only its end counts.
      if (this.#isInString && !this.#isEscaped && this.#key === null && this.#value === null)
        from = endOfText(piece, from);
      if (from < piece.length) this.#take(piece[from]!);
    }
  }

  #take(byte: number): void {
    if (this.#isInString) this.#takeOfString(byte);
    else this.#takeOfStructure(byte);
    if (this.#value !== null && this.#value.length > MAX_VALUE_BYTES) this.#value = null;
  }

  #takeOfString(byte: number): void {
    this.#value?.push(byte);
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === QUOTE) {
      this.#isInString = false;
      if (this.#key !== null) this.#lastKey = Buffer.from(this.#key).toString("latin1");
      this.#key = null;
      return;
    }
    if (this.#key !== null && this.#key.length < MAX_KEY_BYTES) this.#key.push(byte);
  }

  #takeOfStructure(byte: number): void {
    const isOutermost = this.#depth === 1;
    if (isOutermost && (byte === COMMA || CLOSING.includes(byte))) this.#endValue();
    this.#value?.push(byte);
    if (byte === QUOTE) {
      this.#isInString = true;
      if (isOutermost && this.#isKeyNext) this.#key = [];
      this.#isKeyNext = false;
    } else if (OPENING.includes(byte)) {
      this.#depth += 1;
      this.#isKeyNext = this.#depth === 1;
    } else if (CLOSING.includes(byte)) this.#depth -= 1;
    else if (isOutermost && byte === COMMA) this.#isKeyNext = true;
    else if (isOutermost && byte === COLON && this.#lastKey === FIELD) this.#value = [];
  }

  #endValue(): void {
    this.#lastKey = "";
    if (this.#value === null) return;
    try {
      this.#usage = usageOf(JSON.parse(Buffer.from(this.#value).toString("utf8"))) ?? this.#usage;
    } catch {
      // It was no JSON: the client sees as much.
    }
    this.#value = null;
  }
}

/** Answers where the next quote or backslash is; the length where there is none. */
function endOfText(piece: Buffer, from: number): number {
  let at = from;
  while (at < piece.length && piece[at] !== QUOTE && piece[at] !== BACKSLASH) at += 1;
  return at;
}
