/** Puts auditd together: recovery first, then the writer, then the sockets. */
import { join } from "node:path";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import { EventLoopLag } from "@resontech/daemon/event-loop-lag";
import type { Logger } from "pino";
import { AUDITD } from "../decisions/ledger.ts";
import type { WithRoom } from "../log/durable-file.ts";
import { LogReader } from "../log/log-reader.ts";
import type { NoteSigner } from "../log/signed-note.ts";
import { removeSegments, Wal } from "../log/wal.ts";
import type { LogStatus } from "../wire/frames.ts";
import { AuditLog } from "./audit-log.ts";
import { Checkpointer } from "./checkpointer.ts";
import { DiskGuard } from "./disk-guard.ts";
import { type SavedLedger, saveLedger } from "./ledger-file.ts";
import { isAnswered, ProducerPort } from "./producer-port.ts";
import { recover } from "./recovery.ts";
import { Sidecar } from "./sidecar.ts";

const DISK_CHECK_MS = 5_000;
const CLOCK_CHECK_MS = 1_000;
const CLOCK_STEP_MS = 1_000;
/** Leaves after which the ledger is saved again, so that a start reads at most about as many. */
const SAVE_LEDGER_EVERY = 16_384;

/** Another auditd answers on a socket of this configuration: one log has one writer. */
class AlreadyRunningError extends Error {
  override readonly name = "AlreadyRunningError";
  readonly code = "already_running";

  constructor(socket: string) {
    super(`another auditd answers on ${socket}`);
  }
}

export class Auditd implements AsyncDisposable {
  readonly #config: AuditdConfig;
  readonly #signer: NoteSigner;
  readonly #log: Logger;
  readonly #onFatal: (error: unknown) => void;
  readonly #guard: DiskGuard;
  readonly #loopLag = new EventLoopLag();
  #auditLog!: AuditLog;
  #checkpointer!: Checkpointer;
  #wal!: Wal;
  #sidecar!: Sidecar;
  #ports: ProducerPort[] = [];
  #timers: NodeJS.Timeout[] = [];
  #checkDiskSoon: () => void = () => {};
  #diskDraining = false;
  #lossDraining = false;
  #toSave: SavedLedger | null = null;
  #savedSize = 0;
  #clockOffsetMs = Date.now() - performance.now();

  private constructor(config: AuditdConfig, signer: NoteSigner, log: Logger, onFatal: (error: unknown) => void) {
    this.#config = config;
    this.#signer = signer;
    this.#log = log;
    this.#onFatal = onFatal;
    this.#guard = new DiskGuard(config, () => this.#checkDiskSoon());
  }

  /**
   * Recovers the log, signs what the write-ahead log held, then listens.
   * @param onFatal a write, sync or comparison failed: the process must end at once, acknowledging nothing more
   * @throws LogDamagedError
   * @throws AlreadyRunningError before anything is touched
   */
  static async start(config: AuditdConfig, signer: NoteSigner, log: Logger, onFatal: (error: unknown) => void): Promise<Auditd> {
    const auditd = new Auditd(config, signer, log, onFatal);
    for (const { socket } of config.producers) if (await isAnswered(socket)) throw new AlreadyRunningError(socket);
    await auditd.#recover();
    await auditd.#listen();
    return auditd;
  }

  status(): LogStatus {
    return {
      origin: this.#config.origin,
      size: this.#auditLog.durableSize,
      checkpointSize: this.#checkpointer.size,
      batches: this.#auditLog.batches,
      draining: this.#diskDraining || this.#lossDraining,
      highestGeneration: this.#auditLog.ledger.highestGeneration,
      loopLagMs: this.#loopLag.maxMs,
    };
  }

  /** Ends connections, says so, commits and signs what was taken, saves the ledger. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#loopLag[Symbol.dispose]();
    await Promise.all(this.#ports.map((port) => port.close()));
    await this.#auditLog.record({ type: "audit.stop", object: { kind: "log", id: AUDITD }, detail: {} });
    await this.#auditLog.flush();
    await this.#checkpointer.close();
    await this.#saveLedger(await this.#ledgerNow());
    await this.#wal.close();
    await this.#sidecar.close();
  }

  async #recover(): Promise<void> {
    const { logDir, segmentBytes, checkpointMs, producers } = this.#config;
    const withRoom: WithRoom = (write) => this.#guard.withRoom(write);
    const families = new Map(producers.map(({ name, family }) => [name, family]));
    const { tree, ledger, wal: found } = await recover(logDir, this.#signer, families, withRoom);
    const boot = crypto.randomUUID();
    const previous = ledger.sequence(AUDITD);
    this.#diskDraining = (await this.#guard.check()).draining;
    this.#wal = await Wal.open(join(logDir, "wal"), segmentBytes, withRoom);
    this.#sidecar = await Sidecar.open(join(logDir, "disclosures"), tree.size + found.leaves.length, withRoom);
    this.#auditLog = new AuditLog({
      boot,
      checkpointSize: tree.size,
      replayed: found.leaves,
      ledger,
      wal: this.#wal,
      sidecar: this.#sidecar,
      reader: new LogReader(logDir),
      onDurable: () => this.#checkpointer.note(),
      onFatal: this.#onFatal,
    });
    this.#checkpointer = new Checkpointer({
      logDir,
      tree,
      signer: this.#signer,
      withRoom,
      checkpointMs,
      durableFrom: (index) => this.#auditLog.durableFrom(index),
      onCovered: (size) => this.#covered(size),
      onFatal: this.#onFatal,
    });
    await this.#auditLog.record({
      type: "audit.producer.start",
      object: { kind: "producer", id: AUDITD },
      detail: { boot, first_pseq: 1, prev_boot: previous?.boot ?? null, prev_pseq: previous?.lastPseq ?? 0 },
    });
    if (found.cut !== null) {
      this.#log.warn(found.cut, "an incomplete last batch was cut from the write-ahead log");
      await this.#auditLog.record({ type: "audit.wal.cut", object: { kind: "log", id: AUDITD }, detail: found.cut });
    }
    const { leafHash: _, index } = await this.#auditLog.record({
      type: "audit.heartbeat",
      object: { kind: "log", id: AUDITD },
      detail: this.#heartbeat(),
    });
    const covered = await this.#checkpointer.cover(index);
    // Everything that the old segments held is under a durable checkpoint now.
    await removeSegments(join(logDir, "wal"), found.segments);
    this.#log.info({ origin: this.#config.origin, size: covered, replayed: found.leaves.length }, "log taken up");
  }

  async #listen(): Promise<void> {
    const host = {
      log: this.#auditLog,
      cover: (index: number) => this.#checkpointer.cover(index),
      status: () => this.status(),
      onLoss: () => this.#drainForLoss(),
      onFatal: this.#onFatal,
    };
    this.#ports = this.#config.producers.map((producer) => new ProducerPort(producer, host, this.#log));
    for (const port of this.#ports) await port.listen();
    this.#every(this.#config.heartbeatMs, async () => {
      await this.#auditLog.record({ type: "audit.heartbeat", object: { kind: "log", id: AUDITD }, detail: this.#heartbeat() });
    });
    this.#checkDiskSoon = this.#every(DISK_CHECK_MS, () => this.#checkDisk());
    this.#every(CLOCK_CHECK_MS, () => this.#checkClock());
  }

  #heartbeat(): { producers: { prod: string; boot: string; pseq: number }[]; open_operations: number } {
    const { ledger } = this.#auditLog;
    return { producers: ledger.positions(), open_operations: ledger.openCount };
  }

  /** Runs now and then, never twice at a time; what is returned runs it out of turn. */
  #every(intervalMs: number, run: () => Promise<void>): () => void {
    let isRunning = false;
    const turn = (): void => {
      if (isRunning) return;
      isRunning = true;
      run().then(() => {
        isRunning = false;
      }, this.#onFatal);
    };
    this.#timers.push(setInterval(turn, intervalMs));
    return turn;
  }

  async #covered(size: number): Promise<void> {
    if (!(await this.#wal.isInPlace())) throw new Error("the segment that is being written was removed from its folder");
    this.#auditLog.covered(size);
    await this.#wal.release(size);
    // Under load the disk fills faster than the clock asks.
    this.#checkDiskSoon();
    if (this.#toSave !== null && this.#toSave.size <= size) {
      await this.#saveLedger(this.#toSave);
      this.#toSave = null;
    }
    if (this.#toSave === null && size - this.#savedSize >= SAVE_LEDGER_EVERY) this.#toSave = await this.#ledgerNow();
  }

  /** The ledger stands at the last leaf taken, which need not be durable yet: it is saved once a checkpoint covers it. */
  async #ledgerNow(): Promise<SavedLedger> {
    const size = this.#auditLog.nextIndex;
    const ledger = this.#auditLog.ledger.snapshot();
    const { leafHash } = await this.#auditLog.readLeaf(size - 1);
    return { origin: this.#config.origin, size, lastLeafHash: leafHash.toString("hex"), ledger };
  }

  async #saveLedger(saved: SavedLedger): Promise<void> {
    await this.#guard.withRoom(() => saveLedger(this.#config.logDir, saved));
    this.#savedSize = saved.size;
  }

  async #checkDisk(): Promise<void> {
    const { freeBytes, ballastBytes, draining } = await this.#guard.check();
    if (draining === this.#diskDraining) return;
    this.#diskDraining = draining;
    this.#announce();
    this.#log.warn({ freeBytes, ballastBytes, draining }, "disk of the log");
    await this.#auditLog.record({
      type: "audit.disk",
      object: { kind: "log", id: AUDITD },
      detail: { free_bytes: freeBytes, ballast_bytes: ballastBytes, draining },
    });
  }

  async #checkClock(): Promise<void> {
    const offsetMs = Date.now() - performance.now();
    const stepMs = Math.round(offsetMs - this.#clockOffsetMs);
    this.#clockOffsetMs = offsetMs;
    if (Math.abs(stepMs) <= CLOCK_STEP_MS) return;
    await this.#auditLog.record({
      type: "admin.clock.step",
      object: { kind: "appliance", id: AUDITD },
      detail: { step_ms: stepMs },
    });
  }

  #drainForLoss(): void {
    if (this.#lossDraining) return;
    this.#lossDraining = true;
    this.#log.error("a producer holds an acknowledgement that the log does not bear out; draining");
    this.#announce();
  }

  #announce(): void {
    for (const port of this.#ports) port.announce(this.status().draining);
  }
}
