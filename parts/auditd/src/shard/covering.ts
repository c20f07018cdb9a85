/**
 * Which checkpoint covers an entry, and what witnesses have said of it: over the shard that is written and the one before, whose last checkpoint
 * may be cosigned after the turn.
 */
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import type { WithRoom } from "@resontech/frame/durable-file";
import type { Logger } from "pino";
import { slugOf } from "@resontech/audit/format/shard/shard-plan";
import type { CosignReply, Witnessed } from "@resontech/audit/format/wire/frames";
import type { OpenShard } from "./open-shard.ts";
import type { PastShard } from "./past-shard.ts";
import { shardFiles } from "../shard-files.ts";
import type { TrustPolicy } from "../trust/trust-policy.ts";
import { Witnessing } from "../trust/witnessing.ts";

type Parts = { config: AuditdConfig; trust: TrustPolicy; withRoom: WithRoom; log: Logger };

export class Covering implements AsyncDisposable {
  readonly #parts: Parts;
  #past: { origin: string; opened: Promise<Witnessing | null> } | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Takes signature lines of witnesses for the checkpoint of this size of this shard. */
  async cosign(
    shard: OpenShard,
    origin: string,
    size: number,
    lines: string,
  ): Promise<CosignReply> {
    if (origin === shard.files.origin) return shard.witnessing.cosign(size, lines);
    const { past } = shard;
    if (past === null || origin !== past.origin) return { accepted: 0 };
    return (await this.#witnessingOf(past))?.cosign(size, lines) ?? { accepted: 0 };
  }

  /** Size of a checkpoint that covers the entry; null when it stands in neither shard. The last one of the shard before covers everything in it. */
  async cover(
    shard: OpenShard,
    index: number,
    leafHash: string | undefined,
  ): Promise<number | null> {
    const origin = await originOf(shard, index, leafHash);
    if (origin === null) return null;
    return origin === shard.past?.origin ? shard.past.size : shard.checkpointer.cover(index);
  }

  /** Null when the entry stands in neither shard. */
  async witnessed(
    shard: OpenShard,
    index: number,
    leafHash: string | undefined,
  ): Promise<Witnessed | null> {
    const { config, trust } = this.#parts;
    const origin = await originOf(shard, index, leafHash);
    if (origin === null) return null;
    const isPast = shard.past !== null && origin === shard.past.origin;
    const seen = await (isPast
      ? (await this.#witnessingOf(shard.past))?.witnessed(index)
      : shard.witnessed(index));
    const unseen = {
      needsWitness: (await trust.current()).needsWitness,
      witnessed: false,
      witnessedSize: 0,
    };
    return { ...(seen ?? unseen), mayGoOn: config.unwitnessed === "mark" };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    (await this.#past?.opened)?.close();
  }

  /** Null when it takes no cosignatures. */
  #witnessingOf(past: PastShard): Promise<Witnessing | null> {
    const { origin } = past;
    if (this.#past?.origin !== origin) this.#past = { origin, opened: this.#open(past) };
    return this.#past.opened;
  }

  /** Its private keys are gone; the policy has what they verify with. Null when its checkpoints are not what they must be: that is the verifier's. */
  async #open({ origin, size }: PastShard): Promise<Witnessing | null> {
    const { config, trust, withRoom, log } = this.#parts;
    const { logDir } = shardFiles(config, slugOf(origin));
    const keys = (await trust.current()).logs.filter(({ name }) => name === origin);
    return Witnessing.open(logDir, keys, size, trust, withRoom).catch((error: unknown) => {
      log.error({ err: error, origin }, "the shard before takes no cosignatures");
      return null;
    });
  }
}

async function originOf(
  shard: OpenShard,
  index: number,
  leafHash: string | undefined,
): Promise<string | null> {
  return leafHash === undefined ? shard.originAt(index) : shard.originOf(index, leafHash);
}
