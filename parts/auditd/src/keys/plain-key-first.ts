import type { LogSigner } from "@resontech/audit/format/note/note-key";
import type { ShardFiles } from "../shard-files.ts";
import type { KeyHolder } from "./key-holder.ts";

/** A shard that has a key in a plain file keeps it, wherever new keys go: what has begun is never signed by another key. */
export class PlainKeyFirst implements KeyHolder {
  readonly #file: KeyHolder;
  readonly #other: KeyHolder;

  constructor(file: KeyHolder, other: KeyHolder) {
    this.#file = file;
    this.#other = other;
  }

  nameOf(shard: ShardFiles): string {
    return this.#other.nameOf(shard);
  }

  async has(shard: ShardFiles): Promise<boolean> {
    return (await this.#file.has(shard)) || (await this.#other.has(shard));
  }

  async ensure(shard: ShardFiles): Promise<void> {
    await (await this.#of(shard)).ensure(shard);
  }

  async signerOf(shard: ShardFiles): Promise<LogSigner> {
    return (await this.#of(shard)).signerOf(shard);
  }

  async destroy(shard: ShardFiles): Promise<void> {
    await this.#file.destroy(shard);
    await this.#other.destroy(shard);
  }

  [Symbol.dispose](): void {
    this.#other[Symbol.dispose]?.();
  }

  async #of(shard: ShardFiles): Promise<KeyHolder> {
    return (await this.#file.has(shard)) ? this.#file : this.#other;
  }
}
