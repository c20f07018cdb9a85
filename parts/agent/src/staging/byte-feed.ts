/** Takes bytes from a stream by counts: the next so many, whatever pieces they come in. */
export class ByteFeed {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);
  #position = 0;

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Of the next byte. */
  get position(): number {
    return this.#position;
  }

  /** The next 1 to `most` bytes, as they came; null at the end. */
  async some(most: number): Promise<Buffer | null> {
    if (this.#rest.length === 0) {
      const next = await this.#chunks.next();
      if (next.done === true) return null;
      this.#rest = next.value;
    }
    const taken = this.#rest.subarray(0, most);
    this.#rest = this.#rest.subarray(taken.length);
    this.#position += taken.length;
    return taken;
  }

  /** Exactly `count` bytes; null where it ends before. */
  async exactly(count: number): Promise<Buffer | null> {
    const parts: Buffer[] = [];
    for (let left = count; left > 0; ) {
      const part = await this.some(left);
      if (part === null) return null;
      parts.push(part);
      left -= part.length;
    }
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
  }

  /** False where it ends before. */
  async skip(count: number): Promise<boolean> {
    for (let left = count; left > 0; ) {
      const part = await this.some(left);
      if (part === null) return false;
      left -= part.length;
    }
    return true;
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }
}
