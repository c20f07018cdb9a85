/**
 * The shard that is written: one tree under one origin, with its write-ahead log, sidecar and ledger. Opening it recovers it from its files;
 * whoever opens it says what its first leaves in this life are.
 */
import { join } from "node:path";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import type { Logger } from "pino";
import { AUDITD } from "../decisions/ledger.ts";
import type { WithRoom } from "../log/durable-file.ts";
import { LogReader } from "../log/log-reader.ts";
import type { NoteSigner } from "../log/note-key.ts";
import { removeSegments, Wal } from "../log/wal.ts";
import type { LeafRef } from "../wire/frames.ts";
import { AuditLog } from "./audit-log.ts";
import { Checkpointer } from "./checkpointer.ts";
import { type SavedLedger, saveLedger } from "./ledger-file.ts";
import { recover } from "./recovery.ts";
import type { ShardFiles } from "./shard-files.ts";
import { Sidecar } from "./sidecar.ts";

/** Leaves after which the ledger is saved again, so that a start reads at most about as many. */
const SAVE_LEDGER_EVERY = 16_384;

type Surroundings = {
  config: AuditdConfig;
  signers: readonly NoteSigner[];
  withRoom: WithRoom;
  log: Logger;
  /** A checkpoint was made: under load the disk fills faster than the clock asks. */
  onCheckpoint: () => void;
  /** A write, sync or comparison failed: the process must end at once. */
  onFatal: (error: unknown) => void;
};

export class OpenShard implements AsyncDisposable {
  readonly auditLog: AuditLog;
  readonly checkpointer: Checkpointer;
  readonly files: ShardFiles;
  readonly #around: Surroundings;
  readonly #wal: Wal;
  readonly #sidecar: Sidecar;
  #toSave: SavedLedger | null = null;
  #savedSize = 0;

  private constructor(
    files: ShardFiles,
    around: Surroundings,
    wal: Wal,
    sidecar: Sidecar,
    make: (shard: OpenShard) => [AuditLog, Checkpointer],
  ) {
    this.files = files;
    this.#around = around;
    this.#wal = wal;
    this.#sidecar = sidecar;
    [this.auditLog, this.checkpointer] = make(this);
  }

  /** Recovers the shard and signs what its write-ahead log held. @throws LogDamagedError */
  static async open(files: ShardFiles, around: Surroundings): Promise<OpenShard> {
    const { config, signers, withRoom, log, onFatal } = around;
    const { segmentBytes, checkpointMs, producers } = config;
    const { logDir, origin } = files;
    const families = new Map(producers.map(({ name, family }) => [name, family]));
    const { tree, ledger, wal: found } = await recover(logDir, origin, signers, families, withRoom);
    const boot = crypto.randomUUID();
    const previous = ledger.sequence(AUDITD);
    const wal = await Wal.open(join(logDir, "wal"), segmentBytes, withRoom);
    const sidecar = await Sidecar.open(join(logDir, "disclosures"), tree.size + found.leaves.length, withRoom);
    const shard = new OpenShard(files, around, wal, sidecar, (shard) => [
      new AuditLog({
        boot,
        checkpointSize: tree.size,
        replayed: found.leaves,
        ledger,
        wal,
        sidecar,
        reader: new LogReader(logDir),
        onDurable: () => shard.checkpointer.note(),
        onFatal,
      }),
      new Checkpointer({
        logDir,
        tree,
        origin,
        signers,
        withRoom,
        checkpointMs,
        durableFrom: (index) => shard.auditLog.durableFrom(index),
        onCovered: (size) => shard.#covered(size),
        onFatal,
      }),
    ]);
    await shard.auditLog.record({
      type: "audit.producer.start",
      object: { kind: "producer", id: AUDITD },
      detail: { boot, first_pseq: 1, prev_boot: previous?.boot ?? null, prev_pseq: previous?.lastPseq ?? 0 },
    });
    if (found.cut !== null) {
      log.warn(found.cut, "an incomplete last batch was cut from the write-ahead log");
      await shard.auditLog.record({ type: "audit.wal.cut", object: { kind: "log", id: AUDITD }, detail: found.cut });
    }
    const { index } = await shard.heartbeat();
    const covered = await shard.checkpointer.cover(index);
    // Everything that the old segments held is under a durable checkpoint now.
    await removeSegments(join(logDir, "wal"), found.segments);
    log.info({ origin, size: covered, replayed: found.leaves.length }, "log taken up");
    return shard;
  }

  heartbeat(): Promise<LeafRef> {
    const { ledger } = this.auditLog;
    return this.auditLog.record({
      type: "audit.heartbeat",
      object: { kind: "log", id: AUDITD },
      detail: { producers: ledger.positions(), open_operations: ledger.openCount },
    });
  }

  /** Commits and signs what was taken, saves the ledger. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.auditLog.flush();
    await this.checkpointer.close();
    await this.#saveLedger(await this.#ledgerNow());
    await this.#wal.close();
    await this.#sidecar.close();
  }

  async #covered(size: number): Promise<void> {
    if (!(await this.#wal.isInPlace())) throw new Error("the segment that is being written was removed from its folder");
    this.auditLog.covered(size);
    await this.#wal.release(size);
    this.#around.onCheckpoint();
    if (this.#toSave !== null && this.#toSave.size <= size) {
      await this.#saveLedger(this.#toSave);
      this.#toSave = null;
    }
    if (this.#toSave === null && size - this.#savedSize >= SAVE_LEDGER_EVERY) this.#toSave = await this.#ledgerNow();
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
