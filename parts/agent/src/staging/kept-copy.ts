import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";

/**
 * A second file with the bytes of an object on their way to a member. The member never waits for it, nor fails by it: what can't be written is no copy.
 * One that was not finished stays where it is, for whoever named the file to remove.
 */
export class KeptCopy implements AsyncDisposable {
  readonly #path: string | undefined;
  readonly #hash = createHash("sha256");
  #file: FileHandle | null = null;
  #isLost: boolean;

  /** @param path undefined: no copy is made */
  constructor(path: string | undefined) {
    this.#path = path;
    this.#isLost = path === undefined;
  }

  async write(bytes: Buffer): Promise<void> {
    if (this.#isLost) return;
    this.#hash.update(bytes);
    try {
      this.#file ??= await this.#open();
      await this.#file.writeFile(bytes);
    } catch {
      await this.#lose();
    }
  }

  /** SHA-256 of all that was written, in hex; null where something was not. */
  async finish(): Promise<string | null> {
    if (this.#isLost) return null;
    try {
      // An empty object has brought no byte.
      this.#file ??= await this.#open();
      return this.#hash.digest("hex");
    } catch {
      await this.#lose();
      return null;
    } finally {
      await this[Symbol.asyncDispose]();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isLost = true;
    const file = this.#file;
    this.#file = null;
    await file?.close().catch(() => undefined);
  }

  async #open(): Promise<FileHandle> {
    return await open(this.#path!, "wx", 0o600);
  }

  /** The room that it took is another's. */
  async #lose(): Promise<void> {
    await this.#file?.truncate(0).catch(() => undefined);
    await this[Symbol.asyncDispose]();
  }
}
