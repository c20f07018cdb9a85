/** Puts auditd together: recovery first, then the writer, then the sockets. */
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import { EventLoopLag } from "@resontech/daemon/event-loop-lag";
import type { Logger } from "pino";
import { AUDITD } from "../decisions/ledger.ts";
import { LogDamagedError } from "../log/log-reader.ts";
import type { LogStatus } from "../wire/frames.ts";
import { DiskGuard } from "./disk-guard.ts";
import { loadSigners } from "./log-keys.ts";
import { OpenShard } from "./open-shard.ts";
import { isAnswered, ProducerPort } from "./producer-port.ts";
import { currentShard } from "./shard-files.ts";

const DISK_CHECK_MS = 5_000;
const CLOCK_CHECK_MS = 1_000;
const CLOCK_STEP_MS = 1_000;

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
  readonly #log: Logger;
  readonly #onFatal: (error: unknown) => void;
  readonly #guard: DiskGuard;
  readonly #loopLag = new EventLoopLag();
  #shard!: OpenShard;
  #ports: ProducerPort[] = [];
  #timers: NodeJS.Timeout[] = [];
  #checkDiskSoon: () => void = () => {};
  #diskDraining = false;
  #lossDraining = false;
  #clockOffsetMs = Date.now() - performance.now();

  private constructor(config: AuditdConfig, log: Logger, onFatal: (error: unknown) => void) {
    this.#config = config;
    this.#log = log;
    this.#onFatal = onFatal;
    this.#guard = new DiskGuard(config, () => this.#checkDiskSoon());
  }

  /**
   * Recovers the log, signs what the write-ahead log held, then listens.
   * @param onFatal a write, sync or comparison failed: the process must end at once, acknowledging nothing more
   * @throws LogDamagedError
   * @throws ConfigError for a key that is missing or open to others
   * @throws AlreadyRunningError before anything is touched
   */
  static async start(config: AuditdConfig, log: Logger, onFatal: (error: unknown) => void): Promise<Auditd> {
    const auditd = new Auditd(config, log, onFatal);
    for (const { socket } of config.producers) if (await isAnswered(socket)) throw new AlreadyRunningError(socket);
    await auditd.#open();
    await auditd.#listen();
    return auditd;
  }

  status(): LogStatus {
    return {
      origin: this.#shard.files.origin,
      size: this.#shard.auditLog.durableSize,
      checkpointSize: this.#shard.checkpointer.size,
      batches: this.#shard.auditLog.batches,
      draining: this.#diskDraining || this.#lossDraining,
      highestGeneration: this.#shard.auditLog.ledger.highestGeneration,
      loopLagMs: this.#loopLag.maxMs,
    };
  }

  /** Ends connections, says so, commits and signs what was taken, saves the ledger. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#loopLag[Symbol.dispose]();
    await Promise.all(this.#ports.map((port) => port.close()));
    await this.#shard.auditLog.record({ type: "audit.stop", object: { kind: "log", id: AUDITD }, detail: {} });
    await this.#shard[Symbol.asyncDispose]();
  }

  async #open(): Promise<void> {
    this.#diskDraining = (await this.#guard.check()).draining;
    const files = await currentShard(this.#config);
    if (files === null) throw new LogDamagedError(0, "there is no log; one is made only by `init`");
    this.#shard = await OpenShard.open(files, {
      config: this.#config,
      signers: await loadSigners(files),
      withRoom: (write) => this.#guard.withRoom(write),
      log: this.#log,
      onCheckpoint: () => this.#checkDiskSoon(),
      onFatal: this.#onFatal,
    });
  }

  async #listen(): Promise<void> {
    const host = {
      log: this.#shard.auditLog,
      cover: (index: number) => this.#shard.checkpointer.cover(index),
      status: () => this.status(),
      onLoss: () => this.#drainForLoss(),
      onFatal: this.#onFatal,
    };
    this.#ports = this.#config.producers.map((producer) => new ProducerPort(producer, host, this.#log));
    for (const port of this.#ports) await port.listen();
    this.#every(this.#config.heartbeatMs, async () => {
      await this.#shard.heartbeat();
    });
    this.#checkDiskSoon = this.#every(DISK_CHECK_MS, () => this.#checkDisk());
    this.#every(CLOCK_CHECK_MS, () => this.#checkClock());
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

  async #checkDisk(): Promise<void> {
    const { freeBytes, ballastBytes, draining } = await this.#guard.check();
    if (draining === this.#diskDraining) return;
    this.#diskDraining = draining;
    this.#announce();
    this.#log.warn({ freeBytes, ballastBytes, draining }, "disk of the log");
    await this.#shard.auditLog.record({
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
    await this.#shard.auditLog.record({
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
