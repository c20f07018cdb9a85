/** The two keys that sign a shard: Ed25519 for every reader there is, ML-DSA-44 for those to come. Both are the shard's own. */
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import { tpmSeal } from "@resontech/audit/keys/tpm-seal";
import { KEY_TYPE, type LogSigner } from "@resontech/audit/format/note/note-key";
import type { ShardFiles } from "../shard-files.ts";
import { type FileKeyKind, KeyFile } from "./key-file.ts";
import type { KeyHolder } from "./key-holder.ts";
import { KeyToken } from "./key-token.ts";
import { PlainKeyFirst } from "./plain-key-first.ts";

const ED25519 = { kind: "ed25519", type: KEY_TYPE.ed25519, algorithm: "ed25519" } as const;
const ML_DSA_44 = { kind: "mlDsa44", type: KEY_TYPE.mlDsa44, algorithm: "ml-dsa-44" } as const;

export class LogKeys implements Disposable {
  readonly #holders: readonly KeyHolder[];
  /** By origin: a TPM takes its time, and has room for few at once. */
  readonly #opened = new Map<string, LogSigner[]>();

  private constructor(holders: readonly KeyHolder[]) {
    this.#holders = holders;
  }

  /** @throws ConfigError when the token that is configured is not there, or does not let us in */
  static async open({ token, tpm }: AuditdConfig): Promise<LogKeys> {
    const inFile = (kind: FileKeyKind): KeyHolder =>
      tpm === undefined
        ? new KeyFile(kind)
        : new PlainKeyFirst(new KeyFile(kind), new KeyFile(kind, tpmSeal(tpm)));
    if (token === undefined) return new LogKeys([inFile(ED25519), inFile(ML_DSA_44)]);
    return new LogKeys([
      new PlainKeyFirst(inFile(ED25519), await KeyToken.open(token)),
      inFile(ML_DSA_44),
    ]);
  }

  async ensure(shard: ShardFiles): Promise<void> {
    for (const holder of this.#holders) {
      // One that is gone is made anew: what was opened of it signs for nobody any more.
      if (!(await holder.has(shard))) this.#opened.delete(shard.origin);
      await holder.ensure(shard);
    }
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
  async signersOf(shard: ShardFiles): Promise<LogSigner[]> {
    const known = this.#opened.get(shard.origin);
    if (known !== undefined) return known;
    const signers: LogSigner[] = [];
    // One after the other: a TPM without a resource manager serves one at a time.
    for (const holder of this.#holders) signers.push(await holder.signerOf(shard));
    this.#opened.set(shard.origin, signers);
    return signers;
  }

  async destroy(shard: ShardFiles): Promise<void> {
    this.#opened.delete(shard.origin);
    for (const holder of this.#holders) await holder.destroy(shard);
  }

  [Symbol.dispose](): void {
    for (const holder of this.#holders) holder[Symbol.dispose]?.();
  }
}
