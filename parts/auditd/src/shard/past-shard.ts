/** The shard before the one that is written: read for what producers send again and for what they hold of it, never written. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import type { Acknowledged, Ledger } from "../decisions/ledger.ts";
import { slugOf } from "@resontech/audit/format/shard/shard-plan";
import { parseCheckpoint } from "@resontech/audit/format/note/checkpoint";
import { LeafReader } from "@resontech/audit/format/tree/leaf-reader";
import { LogDamagedError, LogReader } from "@resontech/audit/format/tree/log-reader";
import { hashLeaf } from "@resontech/audit/format/tree/merkle";
import type { DurableLeaf } from "../checkpoint/checkpointer.ts";
import type { SearchedShard } from "../commit/repeat-search.ts";
import { rebuildLedger } from "./recovery.ts";
import { exists, familiesOf, type ShardFiles, shardFiles } from "../shard-files.ts";

/** Shards that are kept, and the restores of as many years. */
const MAX_BACKWARDS = 16;

export class PastShard implements SearchedShard {
  readonly origin: string;
  readonly ledger: Ledger;
  /** As its last checkpoint has it. */
  readonly size: number;
  /** Hex. */
  readonly root: string;
  readonly #config: AuditdConfig;
  readonly #reader: LeafReader;

  private constructor(
    config: AuditdConfig,
    { origin, logDir }: ShardFiles,
    ledger: Ledger,
    size: number,
    root: string,
  ) {
    this.#config = config;
    this.origin = origin;
    this.ledger = ledger;
    this.size = size;
    this.root = root;
    this.#reader = new LeafReader(new LogReader(logDir));
  }

  /** Null when its files are gone, as those of a shard past its retention are. @throws LogDamagedError */
  static async open(config: AuditdConfig, origin: string): Promise<PastShard | null> {
    const files = shardFiles(config, slugOf(origin));
    const checkpointFile = join(files.logDir, "checkpoint");
    if (!(await exists(checkpointFile))) return null;
    // Its private keys are gone, and nothing of it is signed again: what was signed is the verifier's to judge.
    const checkpoint = parseCheckpoint(await readFile(checkpointFile, "utf8"));
    if (checkpoint?.origin !== origin)
      throw new LogDamagedError(0, `${checkpointFile} is no checkpoint of ${origin}`);
    const { size, root } = checkpoint;
    const ledger = await rebuildLedger(files.logDir, origin, size, familiesOf(config));
    return new PastShard(config, files, ledger, size, root.toString("hex"));
  }

  get nextIndex(): number {
    return this.size;
  }

  async readLeaf(index: number): Promise<DurableLeaf> {
    const leaf = await this.#reader.read(index, this.size);
    return { leaf, leafHash: hashLeaf(leaf) };
  }

  /** Whether this very leaf stands in it or in one before: a producer may be silent for longer than a shard is written. */
  async everHeld(index: number, leafHash: string): Promise<boolean> {
    for await (const shard of this.#backwards())
      if (await shard.holds(index, leafHash)) return true;
    return false;
  }

  /** Whether it is of those that a restore before this shard, or before one of those before it, cost. */
  async isKnownLoss(acknowledged: Acknowledged): Promise<boolean> {
    for await (const { ledger } of this.#backwards())
      if (ledger.isKnownLoss(acknowledged)) return true;
    return false;
  }

  async *#backwards(): AsyncGenerator<PastShard> {
    yield this;
    let { follows } = this.ledger;
    for (let count = 1; follows !== null && count < MAX_BACKWARDS; count++) {
      const shard = await PastShard.open(this.#config, follows.origin);
      if (shard === null) return;
      yield shard;
      follows = shard.ledger.follows;
    }
  }

  /** Whether this very leaf stands at `index`. */
  async holds(index: number, leafHash: string): Promise<boolean> {
    return index < this.size && (await this.readLeaf(index)).leafHash.toString("hex") === leafHash;
  }
}
