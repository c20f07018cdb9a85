/** Reads an export as a stream: a ustar of the one form that is accepted, member by member, never unpacked. */
import { Refused } from "./note.ts";

const BLOCK = 512;

/** Bytes on demand from a stream of chunks; holds no more than what was asked for and one chunk. */
export class BundleReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);
  bytesRead = 0;

  constructor(stream: AsyncIterable<Buffer>) {
    this.#chunks = stream[Symbol.asyncIterator]();
  }

  /**
   * The content of the next member, which must have this name.
   * @throws {@link Refused} when the archive ends, has another member here, or one of another form or over `maxBytes`
   */
  async member(name: string, maxBytes: number): Promise<Buffer> {
    const header = await this.#take(BLOCK, name);
    const size = sizeOf(header, name);
    if (!header.equals(headerOf(nameOf(header), size)))
      throw new Refused(`the archive has a member of another form where ${name} must be`);
    if (nameOf(header) !== name) throw new Refused(`the archive has ${nameOf(header)} where ${name} must be`);
    if (size > maxBytes) throw new Refused(`${name} is longer than ${maxBytes} bytes`);
    const padded = await this.#take(Math.ceil(size / BLOCK) * BLOCK, name);
    if (padded.subarray(size).some((byte) => byte !== 0)) throw new Refused(`${name} is not padded with zeros`);
    return padded.subarray(0, size);
  }

  /** @throws {@link Refused} unless two zero blocks and nothing else follow */
  async end(): Promise<void> {
    const blocks = await this.#take(2 * BLOCK, "the end");
    if (blocks.some((byte) => byte !== 0)) throw new Refused("the archive has more members than its tree");
    if (this.#rest.length > 0 || (await this.#chunks.next()).done !== true)
      throw new Refused("something follows the end of the archive");
  }

  async #take(count: number, what: string): Promise<Buffer> {
    const parts = [this.#rest];
    let have = this.#rest.length;
    while (have < count) {
      const next = await this.#chunks.next();
      if (next.done === true) throw new Refused(`the archive ends within ${what}`);
      parts.push(next.value);
      have += next.value.length;
    }
    const bytes = parts.length === 1 ? this.#rest : Buffer.concat(parts);
    this.#rest = bytes.subarray(count);
    this.bytesRead += count;
    return bytes.subarray(0, count);
  }
}

function nameOf(header: Buffer): string {
  const end = header.indexOf(0);
  return header.toString("latin1", 0, end === -1 || end > 100 ? 100 : end);
}

function sizeOf(header: Buffer, name: string): number {
  const octal = header.toString("latin1", 124, 135);
  if (!/^[0-7]{11}$/.test(octal)) throw new Refused(`the archive has no member header where ${name} must be`);
  return Number.parseInt(octal, 8);
}

/** POSIX.1-1988: regular file, mode 644, everything else zero. */
function headerOf(name: string, size: number): Buffer {
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
  const header = Buffer.alloc(BLOCK);
  for (const [offset, text] of fields) header.write(text, offset, "latin1");
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return header;
}
