/** The two keys that sign a shard: Ed25519 for every reader there is, ML-DSA-44 for those to come. Both are the shard's own. */
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import { KEY_TYPE, type LogSigner } from "../../log/note-key.ts";
import type { ShardFiles } from "../shard-files.ts";
import { KeyFile } from "./key-file.ts";
import type { KeyHolder } from "./key-holder.ts";
import { FileElseToken } from "./file-else-token.ts";

const ED25519 = { kind: "ed25519", type: KEY_TYPE.ed25519, algorithm: "ed25519" } as const;
const ML_DSA_44 = { kind: "mlDsa44", type: KEY_TYPE.mlDsa44, algorithm: "ml-dsa-44" } as const;

export class LogKeys implements Disposable {
  readonly #holders: readonly KeyHolder[];

  private constructor(holders: readonly KeyHolder[]) {
    this.#holders = holders;
  }

  /** @throws ConfigError when the token that is configured is not there, or does not let us in */
  static async open({ token }: AuditdConfig): Promise<LogKeys> {
    const mlDsa = new KeyFile(ML_DSA_44);
    if (token === undefined) return new LogKeys([new KeyFile(ED25519), mlDsa]);
    // Loaded only where a token is: it brings a native module along.
    const { KeyToken } = await import("./key-token.ts");
    return new LogKeys([new FileElseToken(new KeyFile(ED25519), await KeyToken.open(token)), mlDsa]);
  }

  async ensure(shard: ShardFiles): Promise<void> {
    for (const holder of this.#holders) await holder.ensure(shard);
  }

  /** The key that a shard lacks; null when it has both. */
  async missingOf(shard: ShardFiles): Promise<string | null> {
    for (const holder of this.#holders) if (!(await holder.has(shard))) return holder.nameOf(shard);
    return null;
  }

  async hasAny(shard: ShardFiles): Promise<boolean> {
    for (const holder of this.#holders) if (await holder.has(shard)) return true;
    return false;
  }

  /** @throws ConfigError */
  signersOf(shard: ShardFiles): Promise<LogSigner[]> {
    return Promise.all(this.#holders.map((holder) => holder.signerOf(shard)));
  }

  async destroy(shard: ShardFiles): Promise<void> {
    for (const holder of this.#holders) await holder.destroy(shard);
  }

  [Symbol.dispose](): void {
    for (const holder of this.#holders) holder[Symbol.dispose]?.();
  }
}
