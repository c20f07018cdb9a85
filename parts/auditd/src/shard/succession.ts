/** How one shard follows another: its keys are made and named, its first entries written; then it is the one that is written, and older keys are destroyed. */
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import { syncFolder } from "@resontech/frame/durable-file";
import type { Logger } from "pino";
import type { Follows } from "../decisions/ledger.ts";
import type { Beginning, OwnDraft } from "../decisions/restate.ts";
import { slugOf } from "@resontech/audit/format/shard/shard-plan";
import { LogDamagedError } from "@resontech/audit/format/tree/log-reader";
import { verifierKey } from "@resontech/audit/format/note/note-key";
import { setCurrentSlug } from "@resontech/audit/format/shard/shards";
import { readShard } from "./found-log.ts";
import type { LogKeys } from "../keys/log-keys.ts";
import { isBegun, makeEmptyTree, makeShardKeys } from "./make-shard.ts";
import { OpenShard, type ShardContext } from "./open-shard.ts";
import { PastShard } from "./past-shard.ts";
import { type ShardFiles, shardFiles } from "../shard-files.ts";
import type { TrustPolicy } from "../trust/trust-policy.ts";

type Parts = {
  config: AuditdConfig;
  keys: LogKeys;
  trust: TrustPolicy;
  log: Logger;
  around: (files: ShardFiles) => Promise<ShardContext>;
};

export class Succession {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Makes the keys of a shard to come, unless they are there. Null where they can't be made: there is time, and what is written goes on. */
  async keysOf(next: ShardFiles): Promise<string[] | null> {
    const { config, keys, trust, log } = this.#parts;
    try {
      const made = (await makeShardKeys(config, keys, next)).map(verifierKey);
      await trust.current(next.origin);
      return made;
    } catch (error) {
      log.error({ err: error, origin: next.origin }, "the next shard can't be prepared");
      return null;
    }
  }

  /** @throws LogDamagedError when its folder holds no checkpoint */
  async pastOf({ origin, logDir }: ShardFiles): Promise<PastShard> {
    const past = await PastShard.open(this.#parts.config, origin);
    if (past === null) throw new LogDamagedError(0, `${logDir} holds no checkpoint`);
    return past;
  }

  /**
   * Begins the shard that follows, or finds that it is begun; from then on it is the one that is written.
   * @param said what it is begun by, and no shard has taken yet: durable before it is the one
   */
  async follow(
    beginning: Beginning & { before: PastShard },
    slug: string,
    said: readonly OwnDraft[] = [],
  ): Promise<OpenShard> {
    const { config, keys, log, around } = this.#parts;
    const files = shardFiles(config, slug);
    const signers = await makeShardKeys(config, keys, files);
    const wasBegun = await isBegun(files, signers);
    if (!wasBegun) await makeEmptyTree(config, files, signers);
    const surroundings = await around(files);
    const recovered = await readShard(files, signers, surroundings);
    const { before: past } = beginning;
    const shard = await OpenShard.open(
      files,
      recovered,
      { past, beginning: wasBegun ? null : beginning },
      surroundings,
    );
    await Promise.all(said.map((draft) => shard.auditLog.record(draft)));
    await setCurrentSlug(config.auditDir, files.slug);
    for (const older of await this.#keysBefore(shard.auditLog.ledger.follows))
      await keys.destroy(older);
    log.info(
      { origin: files.origin, after: past.origin, reason: beginning.reason },
      "a shard begins",
    );
    return shard;
  }

  /** A life that ended at the turn may have named this shard without making that durable, and left keys of an older one. */
  async endTurn(follows: Follows | null): Promise<void> {
    const left = await this.#keysBefore(follows);
    if (left.length > 0) await syncFolder(this.#parts.config.auditDir);
    for (const older of left) await this.#parts.keys.destroy(older);
  }

  /** Of the shard before, and of those that were lost with what followed it, those whose keys are still there: none of them is signed again. */
  async #keysBefore(follows: Follows | null): Promise<ShardFiles[]> {
    const { config, keys } = this.#parts;
    const origins =
      follows === null ? [] : [follows.origin, ...follows.lost.map(({ origin }) => origin)];
    const shards = origins.map((origin) => shardFiles(config, slugOf(origin)));
    const haveKeys = await Promise.all(shards.map((shard) => keys.hasAny(shard)));
    return shards.filter((_, at) => haveKeys[at]);
  }
}
