/** One of a shard's keys as a file, 0400: PKCS#8 PEM, as it is or sealed. */
import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { chmod, open, readFile, stat, unlink } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { replaceFile, syncFolder } from "@resontech/frame/durable-file";
import type { Seal } from "@resontech/audit/keys/seal";
import { type KeyType, type LogSigner, noteSigner } from "@resontech/audit/format/note/note-key";
import { ConfigError } from "../config.ts";
import { exists, type ShardFiles } from "../shard-files.ts";
import type { KeyHolder } from "./key-holder.ts";

export type FileKeyKind = {
  kind: keyof ShardFiles["keyFiles"];
  type: KeyType;
  algorithm: "ed25519" | "ml-dsa-44";
};
const UNSEALED: Seal = {
  suffix: "",
  seal: async (pem) => Buffer.from(pem),
  unseal: async (bytes) => bytes,
};

export class KeyFile implements KeyHolder {
  readonly #is: FileKeyKind;
  readonly #seal: Seal;

  constructor(kind: FileKeyKind, seal: Seal = UNSEALED) {
    this.#is = kind;
    this.#seal = seal;
  }

  nameOf({ keyFiles }: ShardFiles): string {
    return `${keyFiles[this.#is.kind]}${this.#seal.suffix}`;
  }

  /** Whole or not. */
  has(shard: ShardFiles): Promise<boolean> {
    return exists(this.nameOf(shard));
  }

  async ensure(shard: ShardFiles): Promise<void> {
    const file = this.nameOf(shard);
    // Whoever made it may have been killed before its name was durable.
    if (await exists(file)) return syncFolder(dirname(file));
    // One call for each: the overloads of generateKeyPairSync know no union.
    const { privateKey } =
      this.#is.algorithm === "ed25519"
        ? generateKeyPairSync("ed25519")
        : generateKeyPairSync("ml-dsa-44");
    const pem = privateKey.export({ format: "pem", type: "pkcs8" });
    await replaceFile(
      file,
      await explained(file, this.#seal.seal(Buffer.from(pem), basename(file))),
      0o400,
    );
  }

  async signerOf(shard: ShardFiles): Promise<LogSigner> {
    const file = this.nameOf(shard);
    return await explained(file, this.#read(file, shard.origin));
  }

  async #read(file: string, origin: string): Promise<LogSigner> {
    const { type, algorithm } = this.#is;
    if (((await stat(file)).mode & 0o077) !== 0)
      throw new Error("is open to others: its mode must be 0400");
    const pem = await this.#seal.unseal(await readFile(file), basename(file));
    const key = createPrivateKey(pem);
    pem.fill(0);
    if (key.asymmetricKeyType !== algorithm) throw new Error(`is no ${algorithm} key`);
    return noteSigner(origin, type, key);
  }

  /** Overwritten, then removed: a name that a power cut brings back stands for zeros. */
  async destroy(shard: ShardFiles): Promise<void> {
    const file = this.nameOf(shard);
    if (!(await exists(file))) return;
    await chmod(file, 0o600);
    const handle = await open(file, "r+");
    try {
      await handle.write(Buffer.alloc((await handle.stat()).size), 0);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await unlink(file);
  }
}

async function explained<T>(file: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new ConfigError(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
