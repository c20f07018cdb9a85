/**
 * The shard that is written: one tree under one origin, with its write-ahead log, sidecar and ledger.
 */
import { join } from "node:path";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import type { WithRoom } from "@resontech/frame/durable-file";
import type { Logger } from "pino";
import { heartbeatOf } from "../decisions/heartbeat.ts";
import { AUDITD } from "../decisions/ledger.ts";
import { type Beginning, firstLeaves } from "../decisions/restate.ts";
import { LogReader } from "@resontech/audit/format/tree/log-reader";
import type { LogSigner } from "@resontech/audit/format/note/note-key";
import { removeSegments, Wal } from "../wal/wal.ts";
import type { WalContent } from "../wal/wal-recovery.ts";
import type { LeafRef, LogPlace, SaidOfOperation } from "@resontech/audit/format/wire/frames";
import { AuditLog } from "../commit/audit-log.ts";
import { Checkpointer } from "../checkpoint/checkpointer.ts";
import { type SavedLedger, saveLedger } from "../commit/ledger-file.ts";
import type { PastShard } from "./past-shard.ts";
import type { Recovered } from "./recovery.ts";
import { findOutcomes } from "../commit/find-outcomes.ts";
import type { ShardFiles } from "../shard-files.ts";
import { type Segment, Sidecar } from "../commit/sidecar.ts";
import type { TrustPolicy } from "../trust/trust-policy.ts";
import { Witnessing } from "../trust/witnessing.ts";

/** Leaves after which the ledger is saved again, so that a start reads at most about as many. */
const SAVE_LEDGER_EVERY = 16_384;
/** Twice what a checkpoint covers at the highest rate that was measured; some 50 MB. */
const MAX_UNCOVERED = 65_536;

export type ShardContext = {
  config: AuditdConfig;
  signers: readonly LogSigner[];
  trust: TrustPolicy;
  withRoom: WithRoom;
  log: Logger;
  /** A checkpoint was made: under load the disk fills faster than the clock asks. */
  onCheckpoint: () => void;
  /** A write, sync or comparison failed: the process must end at once. */
  onFatal: (error: unknown) => void;
};

/** The shard before this one, and what this one says first where it is new. */
export type History = { past: PastShard | null; beginning: Beginning | null };

export class OpenShard implements AsyncDisposable {
  readonly auditLog: AuditLog;
  readonly checkpointer: Checkpointer;
  readonly witnessing: Witnessing;
  readonly files: ShardFiles;
  readonly past: PastShard | null;
  readonly #around: ShardContext;
  readonly #wal: Wal;
  readonly #sidecar: Sidecar;
  #toSave: SavedLedger | null = null;
  #savedSize = 0;

  private constructor(
    files: ShardFiles,
    around: ShardContext,
    past: PastShard | null,
    wal: Wal,
    sidecar: Sidecar,
    witnessing: Witnessing,
    make: (shard: OpenShard) => [AuditLog, Checkpointer],
  ) {
    this.files = files;
    this.past = past;
    this.#around = around;
    this.#wal = wal;
    this.#sidecar = sidecar;
    this.witnessing = witnessing;
    [this.auditLog, this.checkpointer] = make(this);
  }

  /** Goes on with a shard as it was found, or begins one, and signs. @throws LogDamagedError */
  static async open(
    files: ShardFiles,
    recovered: Recovered,
    history: History,
    around: ShardContext,
  ): Promise<OpenShard> {
    const { ledger, wal: found } = recovered;
    const { beginning } = history;
    const boot = crypto.randomUUID();
    const own = (beginning?.before ?? { ledger }).ledger.sequence(AUDITD);
    const shard = await OpenShard.#build(files, recovered, history.past, boot, around);
    const { auditLog, checkpointer } = shard;
    // A checkpoint of a shard that is being begun covers all that it says first: a start that does not find all of it begins anew.
    if (beginning !== null) checkpointer.hold();
    for (const draft of beginning === null ? [] : firstLeaves(beginning))
      void auditLog.record(draft);
    const started = auditLog.record({
      type: "audit.producer.start",
      object: { kind: "producer", id: AUDITD },
      detail: { boot, first_pseq: 1, prev_boot: own?.boot ?? null, prev_pseq: own?.lastPseq ?? 0 },
    });
    if (found.cut !== null) {
      around.log.warn(found.cut, "an incomplete last batch was cut from the write-ahead log");
      // In one batch with the start: it takes the place of what was cut, and the next start no longer sees that.
      await auditLog.record({
        type: "audit.wal.cut",
        object: { kind: "log", id: AUDITD },
        detail: found.cut,
      });
    }
    await started;
    // What an earlier life was about to do when it was killed was done or not; what it did stands in the file itself. A deletion goes on.
    for (const [op, { type, prod }] of auditLog.ledger.open)
      if (prod === AUDITD && type !== "audit.shard.delete")
        void auditLog.record({
          ...{ type, op, object: { kind: "log", id: AUDITD } },
          ...{ phase: "failed", outcome: { code: "interrupted" } },
        });
    const { index } = await shard.heartbeat(null);
    checkpointer.release();
    await shard.#sign(index, found);
    around.log.info(
      { origin: files.origin, size: checkpointer.size, replayed: found.leaves.length },
      "log taken up",
    );
    return shard;
  }

  /** Signs what the write-ahead log of a closed shard still holds, and adds nothing to it. */
  static async finish(
    files: ShardFiles,
    recovered: Recovered,
    around: ShardContext,
  ): Promise<void> {
    await using shard = await OpenShard.#build(files, recovered, null, crypto.randomUUID(), around);
    await shard.#sign(shard.auditLog.nextIndex - 1, recovered.wal);
  }

  static async #build(
    files: ShardFiles,
    { tree, ledger, wal: found }: Recovered,
    past: PastShard | null,
    boot: string,
    around: ShardContext,
  ): Promise<OpenShard> {
    const { config, signers, trust, withRoom, onFatal } = around;
    const { segmentBytes, checkpointMs } = config;
    const { logDir, origin } = files;
    const wal = await Wal.open(join(logDir, "wal"), segmentBytes, withRoom);
    const sidecar = await Sidecar.open(
      join(logDir, "disclosures"),
      tree.size + found.leaves.length,
      withRoom,
    );
    const witnessing = await Witnessing.open(logDir, signers, tree.size, trust, withRoom);
    return new OpenShard(files, around, past, wal, sidecar, witnessing, (shard) => [
      new AuditLog({
        boot,
        checkpointSize: tree.size,
        replayed: found.leaves,
        ledger,
        wal,
        sidecar,
        reader: new LogReader(logDir),
        previous: past,
        maxUncovered: MAX_UNCOVERED,
        isHeld: () => shard.checkpointer.isHeld,
        onDurable: () => shard.checkpointer.note(),
        onFatal,
      }),
      new Checkpointer({
        origin,
        tree,
        signers,
        checkpointMs,
        durableFrom: (index) => shard.auditLog.durableFrom(index),
        publish: (size, note) => witnessing.publish(size, note),
        onCovered: (size) => shard.#covered(size),
        onFatal,
      }),
    ]);
  }

  /** Covers the leaf at `index`; then everything that the old segments held is under a durable checkpoint. */
  async #sign(index: number, found: WalContent): Promise<void> {
    await this.checkpointer.cover(index);
    await removeSegments(join(this.files.logDir, "wal"), found.segments);
  }

  /** The shard in which this very leaf is durable: this one or the one before; null for neither. */
  async originOf(index: number, leafHash: string): Promise<string | null> {
    const isHere =
      index < this.auditLog.durableSize &&
      (await this.auditLog.readLeaf(index)).leafHash.toString("hex") === leafHash;
    if (isHere) return this.files.origin;
    return (await this.past?.holds(index, leafHash)) === true ? (this.past?.origin ?? null) : null;
  }

  /** What the log says of operations of a producer's family, behind an entry, in the order of the log; null once nobody waits any more. */
  findOutcomes(
    prod: string,
    ops: readonly string[],
    after: LogPlace | undefined,
    isOver: () => boolean,
  ): Promise<SaidOfOperation[] | null> {
    const { auditLog, past, files } = this;
    const written = {
      origin: files.origin,
      nextIndex: auditLog.durableSize,
      readLeaf: (index: number) => auditLog.readLeaf(index),
    };
    const isOf = (other: string): boolean => auditLog.ledger.isOfFamily(prod, other);
    return findOutcomes(
      past === null ? [written] : [past, written],
      { ops: new Set(ops), after, isOf },
      isOver,
    );
  }

  /** The shard that is meant by an index, where its hash is not known: this one, if it has so many entries. */
  originAt(index: number): string | null {
    if (index < this.auditLog.nextIndex) return this.files.origin;
    return this.past !== null && index < this.past.size ? this.past.origin : null;
  }

  /** What waits longest for the vault. Its lines were durable before their leaves: it is given once these are, too. */
  async oldestSegment(): Promise<Segment | null> {
    const found = await this.#sidecar.oldest();
    if (found !== null) await this.auditLog.durable(found.lastIndex);
    return found;
  }

  eraseSegment(segment: string): Promise<void> {
    return this.#sidecar.erase(segment);
  }

  /** Makes the checkpoint that is to be cosigned at once. */
  witnessed(index: number): ReturnType<Witnessing["witnessed"]> {
    this.checkpointer.cover(index).catch(() => {});
    return this.witnessing.witnessed(index);
  }

  /** @param away producers that should be connected and are not; null where they could not be yet */
  heartbeat(away: readonly string[] | null): Promise<LeafRef> {
    const detail = heartbeatOf(this.auditLog.ledger, away);
    return this.auditLog.record({
      type: "audit.heartbeat",
      object: { kind: "log", id: AUDITD },
      detail,
    });
  }

  /** Commits and signs what was taken, saves the ledger. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.auditLog.flush();
    await this.checkpointer.close();
    this.witnessing.close();
    await this.#saveLedger(await this.#ledgerNow());
    await this.#wal.close();
    await this.#sidecar.close();
  }

  async #covered(size: number): Promise<void> {
    if (!(await this.#wal.isInPlace()))
      throw new Error("the segment that is being written was removed from its folder");
    this.auditLog.covered(size);
    await this.#wal.release(size);
    this.#around.onCheckpoint();
    if (this.#toSave !== null && this.#toSave.size <= size) {
      await this.#saveLedger(this.#toSave);
      this.#toSave = null;
    }
    if (this.#toSave === null && size - this.#savedSize >= SAVE_LEDGER_EVERY)
      this.#toSave = await this.#ledgerNow();
  }

  /** The ledger stands at the last leaf taken, which need not be durable yet: it is saved once a checkpoint covers it. */
  async #ledgerNow(): Promise<SavedLedger> {
    const size = this.auditLog.nextIndex;
    const ledger = this.auditLog.ledger.snapshot();
    const { leafHash } = await this.auditLog.readLeaf(size - 1);
    return { origin: this.files.origin, size, lastLeafHash: leafHash.toString("hex"), ledger };
  }

  async #saveLedger(saved: SavedLedger): Promise<void> {
    await this.#around.withRoom(() => saveLedger(this.files.logDir, saved));
    this.#savedSize = saved.size;
  }
}
