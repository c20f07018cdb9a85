/** Reads an export as a stream: a ustar of the one form that is accepted, member by member, never unpacked. */
import { equal, latin1 } from "./bytes.ts";
import { Refused } from "./note.ts";

const BLOCK = 512;
const LINE_FEED = 0x0a;
/** Most lines end within it. */
const FIRST_LOOK = 1_024;

/** Bytes on demand from a stream of chunks; holds little more than what was asked for and one chunk. What it gives is valid until it is asked again. */
export class ArchiveReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #buffer = new Uint8Array(0);
  #from = 0;
  #to = 0;
  #header: { name: string; size: number } | null = null;
  bytesRead = 0;

  constructor(stream: AsyncIterable<Uint8Array>) {
    this.#chunks = stream[Symbol.asyncIterator]();
  }

  /** Name of the next member; the empty string where the archive ends. @throws {@link Refused} for a header of another form */
  async peek(): Promise<string> {
    if (this.#header === null) {
      const header = await this.#take(BLOCK, "the next member");
      if (header.every((byte) => byte === 0)) this.#header = { name: "", size: 0 };
      else {
        const size = sizeOf(header);
        const name = nameOf(header);
        if (size === null || !equal(header, headerOf(name, size)))
          throw new Refused(
            `the archive has no member's header of the one form at byte ${this.bytesRead - BLOCK}`,
          );
        this.#header = { name, size };
      }
    }
    return this.#header.name;
  }

  /**
   * The content of the next member, which must have this name.
   * @throws {@link Refused} when the archive ends, has another member here, or one over `maxBytes`
   */
  async member(name: string, maxBytes: number): Promise<Uint8Array> {
    const size = await this.#begin(name, maxBytes);
    const padded = await this.#take(Math.ceil(size / BLOCK) * BLOCK, name);
    refusePadding(padded.subarray(size), name);
    return padded.subarray(0, size);
  }

  /**
   * The same, line by line, each without its end: no more of it is held than one line.
   * @throws {@link Refused} as well for a line over `maxLineBytes`, or a last one without its end
   */
  async *lines(name: string, maxBytes: number, maxLineBytes: number): AsyncGenerator<Uint8Array> {
    const size = await this.#begin(name, maxBytes);
    for (let left = size; left > 0; ) {
      const end = await this.#lineEnd(name, left, maxLineBytes);
      left -= end + 1;
      yield (await this.#take(end + 1, name)).subarray(0, end);
    }
    refusePadding(await this.#take(Math.ceil(size / BLOCK) * BLOCK - size, name), name);
  }

  /** @throws {@link Refused} unless two zero blocks and nothing else follow */
  async end(): Promise<void> {
    if ((await this.peek()) !== "") throw new Refused("the archive has more members than its tree");
    const block = await this.#take(BLOCK, "the end");
    if (block.some((byte) => byte !== 0))
      throw new Refused(`the archive does not end with zeros at byte ${this.bytesRead - BLOCK}`);
    if (this.#to > this.#from || (await this.#chunks.next()).done !== true)
      throw new Refused("something follows the end of the archive");
  }

  /** What was asked of the stream is all that will be. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  async #begin(name: string, maxBytes: number): Promise<number> {
    const found = await this.peek();
    const { size } = this.#header!;
    if (found !== name)
      throw new Refused(
        `the archive has ${found === "" ? "its end" : found} where ${name} must be`,
      );
    if (size > maxBytes) throw new Refused(`${name} is longer than ${maxBytes} bytes`);
    this.#header = null;
    return size;
  }

  /** Where the next line ends. @param left bytes of the member */
  async #lineEnd(name: string, left: number, maxLineBytes: number): Promise<number> {
    const most = Math.min(left, maxLineBytes + 1);
    for (
      let looked = 0, have = Math.min(FIRST_LOOK, most);
      ;
      looked = have, have = Math.min(2 * have, most)
    ) {
      await this.#have(have, name);
      const end = this.#buffer.subarray(this.#from, this.#from + have).indexOf(LINE_FEED, looked);
      if (end !== -1) return end;
      if (have === left) throw new Refused(`${name} is no text of whole lines`);
      if (have === most) throw new Refused(`${name} has a line of over ${maxLineBytes} bytes`);
    }
  }

  /** Reads until so many bytes are there to be taken. */
  async #have(count: number, what: string): Promise<void> {
    while (this.#to - this.#from < count) {
      const next = await this.#chunks.next();
      if (next.done === true) throw new Refused(`the archive ends within ${what}`);
      this.#append(next.value);
    }
  }

  /** Into one buffer that is used again and again: those of a stream are freed late, and tens of MiB of them at a time. */
  #append(chunk: Uint8Array): void {
    const held = this.#buffer.subarray(this.#from, this.#to);
    if (this.#to + chunk.length > this.#buffer.length) {
      // Half of it stays free, so that what is held is seldom moved.
      if (2 * (held.length + chunk.length) > this.#buffer.length) {
        this.#buffer = new Uint8Array(4 * (held.length + chunk.length));
        this.#buffer.set(held);
      } else this.#buffer.copyWithin(0, this.#from, this.#to);
      this.#from = 0;
      this.#to = held.length;
    }
    this.#buffer.set(chunk, this.#to);
    this.#to += chunk.length;
  }

  /** @returns a part of the buffer, valid until more is read */
  async #take(count: number, what: string): Promise<Uint8Array> {
    await this.#have(count, what);
    const bytes = this.#buffer.subarray(this.#from, this.#from + count);
    this.#from += count;
    this.bytesRead += count;
    return bytes;
  }
}

function refusePadding(padding: Uint8Array, name: string): void {
  if (padding.some((byte) => byte !== 0)) throw new Refused(`${name} is not padded with zeros`);
}

function nameOf(header: Uint8Array): string {
  const field = header.subarray(0, 100);
  const end = field.indexOf(0);
  return latin1(end === -1 ? field : field.subarray(0, end));
}

function sizeOf(header: Uint8Array): number | null {
  const octal = latin1(header.subarray(124, 135));
  return /^[0-7]{11}$/.test(octal) ? Number.parseInt(octal, 8) : null;
}

/** POSIX.1-1988: regular file, mode 644, everything else zero. */
function headerOf(name: string, size: number): Uint8Array {
  const header = new Uint8Array(BLOCK);
  const write = (text: string, at: number): void => {
    for (let index = 0; index < text.length; index++) header[at + index] = text.charCodeAt(index);
  };
  const fields: [offset: number, text: string][] = [
    [0, name],
    [100, "0000644"],
    [108, "0000000"],
    [116, "0000000"],
    [124, size.toString(8).padStart(11, "0")],
    [136, "00000000000"],
    [148, "        "],
    [156, "0"],
    [257, "ustar"],
    [263, "00"],
  ];
  for (const [offset, text] of fields) write(text, offset);
  const sum = header.reduce((total, byte) => total + byte, 0);
  write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return header;
}
