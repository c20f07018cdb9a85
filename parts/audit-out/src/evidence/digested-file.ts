/** A new file that is written piece by piece, and digested as it is. */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

export class DigestedFile implements AsyncDisposable {
  readonly #handle: FileHandle;
  readonly #digest = createHash("sha256");

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** 0640; @throws what the disk says, where the file is there already too */
  static async create(file: string): Promise<DigestedFile> {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
    return new DigestedFile(await open(file, flags, 0o640));
  }

  async write(text: string): Promise<void> {
    this.#digest.update(text);
    await this.#handle.appendFile(text);
  }

  /** On the disk from here on. @returns SHA-256 of the whole, hex */
  async finish(): Promise<string> {
    await this.#handle.sync();
    return this.#digest.digest("hex");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }
}
