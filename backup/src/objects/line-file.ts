import { createWriteStream, type WriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { once } from "node:events";

/** A file of JSON lines that is written one by one; whatever was there is gone. */
export class LineFile {
  readonly #stream: WriteStream;

  private constructor(stream: WriteStream) {
    this.#stream = stream;
  }

  static async begin(file: string): Promise<LineFile> {
    await rm(file, { force: true });
    const stream = createWriteStream(file, { mode: 0o600, flags: "wx" });
    await once(stream, "open");
    return new LineFile(stream);
  }

  async write(line: object): Promise<void> {
    if (!this.#stream.write(`${JSON.stringify(line)}\n`)) await once(this.#stream, "drain");
  }

  async end(): Promise<void> {
    this.#stream.end();
    await once(this.#stream, "close");
  }
}
