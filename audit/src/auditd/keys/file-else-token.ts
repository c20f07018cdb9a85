import type { LogSigner } from "../../log/note-key.ts";
import type { ShardFiles } from "../shard-files.ts";
import type { KeyHolder } from "./key-holder.ts";

/** A shard that began with a key in a file goes on with it: what has begun is never signed by another key. */
export class FileElseToken implements KeyHolder {
  readonly #file: KeyHolder;
  readonly #token: KeyHolder;

  constructor(file: KeyHolder, token: KeyHolder) {
    this.#file = file;
    this.#token = token;
  }

  nameOf(shard: ShardFiles): string {
    return this.#token.nameOf(shard);
  }

  async has(shard: ShardFiles): Promise<boolean> {
    return (await this.#file.has(shard)) || (await this.#token.has(shard));
  }

  async ensure(shard: ShardFiles): Promise<void> {
    await (await this.#of(shard)).ensure(shard);
  }

  async signerOf(shard: ShardFiles): Promise<LogSigner> {
    return (await this.#of(shard)).signerOf(shard);
  }

  async destroy(shard: ShardFiles): Promise<void> {
    await this.#file.destroy(shard);
    await this.#token.destroy(shard);
  }

  [Symbol.dispose](): void {
    this.#token[Symbol.dispose]?.();
  }

  async #of(shard: ShardFiles): Promise<KeyHolder> {
    return (await this.#file.has(shard)) ? this.#file : this.#token;
  }
}
