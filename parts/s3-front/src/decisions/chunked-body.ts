/** Takes the frames off a chunked body (RFC 9112 §7.1). Trailers are dropped: nobody of ours sends any. */
export class ChunkedBody {
  #state: "size" | "data" | "data-end" | "trailer" | "end" = "size";
  #line = "";
  #left = 0;

  get isEnded(): boolean {
    return this.#state === "end";
  }

  /** What of `bytes` is content. @throws SyntaxError for a frame that is none, or bytes after the last */
  push(bytes: Uint8Array): Buffer {
    const content: Uint8Array[] = [];
    let at = 0;
    while (at < bytes.length) {
      if (this.#state === "end") throw new SyntaxError("bytes after the last chunk");
      if (this.#state === "data") {
        const end = Math.min(bytes.length, at + this.#left);
        content.push(bytes.subarray(at, end));
        this.#left -= end - at;
        at = end;
        if (this.#left === 0) this.#state = "data-end";
        continue;
      }
      const byte = bytes[at] ?? 0;
      at += 1;
      if (byte !== 0x0a) this.#line += String.fromCharCode(byte);
      else this.#endLine();
      if (this.#line.length > 1024) throw new SyntaxError("a chunk's line is too long");
    }
    return Buffer.concat(content);
  }

  #endLine(): void {
    const line = this.#line.replace(/\r$/, "");
    this.#line = "";
    if (this.#state === "data-end") {
      if (line !== "") throw new SyntaxError("a chunk is longer than it said");
      this.#state = "size";
    } else if (this.#state === "trailer") {
      if (line === "") this.#state = "end";
    } else {
      const size = /^([0-9a-fA-F]{1,12})(?:;.*)?$/.exec(line)?.[1];
      if (size === undefined) throw new SyntaxError("a chunk without a size");
      this.#left = Number.parseInt(size, 16);
      this.#state = this.#left === 0 ? "trailer" : "data";
    }
  }
}
