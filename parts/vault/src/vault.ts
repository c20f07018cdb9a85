/**
 * Puts the vault together: what lies on the disk, the line to auditd, its own work in the background, and the operator's socket.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { VaultConfig } from "@resontech/contracts/vault-config";
import {
  VaultControlRequest,
  type VaultHealth,
  type VaultStatus,
} from "@resontech/contracts/vault-control";
import { readable } from "@resontech/contracts/readable";
import { VaultTokensRequest } from "@resontech/contracts/vault-tokens";
import { Turns } from "@resontech/frame/turns";
import type { Logger } from "pino";
import { Compile } from "typebox/compile";
import { reasonOf } from "@resontech/audit/scrub/scrub-room";
import { type AuditConnection, AuditUnavailable } from "@resontech/audit/producer";
import { LinePort } from "./control/line-port.ts";
import { type OpenedVault, openParts } from "./open-parts.ts";
import type { VaultParts } from "./parts.ts";
import { closeInterrupted } from "./privacy/close-interrupted.ts";
import { closeUnknown } from "./privacy/close-unknown.ts";
import { Destruction } from "./privacy/destruction.ts";
import { disclose } from "./privacy/disclose.ts";
import { Erasures } from "./privacy/erasure.ts";
import { confirmHolds, refuse, setOrLiftHold, setUnprovenHold } from "./privacy/holds.ts";
import { Intake, SpoolBlocked } from "./privacy/intake.ts";
import { askForOldShards } from "./privacy/old-shards.ts";
import { Retention } from "./privacy/retention.ts";
import { reconcileLife } from "./privacy/reconcile-life.ts";
import { AuditRecord } from "./record/audit-record.ts";
import { lineRefusedInTurn } from "./record/refusals.ts";
import { recordSpool } from "./privacy/spool-record.ts";
import { ValueTokens } from "./tokens/value-tokens.ts";

/** What an operator asks stays closed: a limit that was passed over would destroy more than was asked. */
const controlRequest = Compile(VaultControlRequest);
/** audit-out may be of another release. */
const tokensRequest = Compile(readable(VaultTokensRequest));

export class Vault implements AsyncDisposable {
  readonly #parts: VaultParts;
  readonly #opened: OpenedVault;
  readonly #stop: AbortController;
  readonly #erasures: Erasures;
  readonly #retention: Retention;
  #ports: LinePort[] = [];
  #working: Promise<void> = Promise.resolve();
  #fault: VaultHealth["fault"] = null;
  #reason: string | null = null;
  #retainedOn = "";
  #lookedOn = "";
  #awaitsClock = false;
  #backUpAfterMs = 0;
  #askedForOpen: AuditConnection | null = null;
  #interrupted: ReadonlySet<string>;

  private constructor(parts: VaultParts, opened: OpenedVault, stop: AbortController) {
    this.#parts = parts;
    this.#opened = opened;
    this.#stop = stop;
    this.#interrupted = new Set(opened.acts.underWay().map(({ op }) => op));
    const destruction = new Destruction(parts);
    this.#erasures = new Erasures(parts, destruction);
    this.#retention = new Retention(parts, destruction);
  }

  /** @throws ConfigError, DatabaseTooNew, AlreadyRunningError */
  static async start(config: VaultConfig, log: Logger): Promise<Vault> {
    await using stack = new AsyncDisposableStack();
    const opened = stack.use(await openParts(config));
    const stop = new AbortController();
    const record = stack.use(
      new AuditRecord(opened.outbox, config.auditSocket, log, (connection) =>
        vault.#heard(connection),
      ),
    );
    const intake = new Intake(opened.keys, opened.store);
    const vault: Vault = new Vault(
      { ...opened, config, record, intake, turns: new Turns(), log, signal: stop.signal },
      opened,
      stop,
    );
    await vault.#listen();
    vault.#working = vault.#work();
    stack.move();
    return vault;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    for (const port of this.#ports) await port[Symbol.asyncDispose]();
    await this.#parts.record[Symbol.asyncDispose]();
    await this.#working;
    // What has the turn ends with the line to auditd.
    await this.#parts.turns.idle();
    this.#opened[Symbol.dispose]();
  }

  async #listen(): Promise<void> {
    const { config, log } = this.#parts;
    const tokens = new ValueTokens(this.#parts);
    const onFault = (error: unknown): void => log.error({ err: error }, "a request failed");
    this.#ports.push(
      await LinePort.listen<VaultControlRequest>({
        path: config.controlSocket,
        isRequest: (value) => controlRequest.Check(value),
        answer: (request, give) => this.#answer(request, give),
        refuse: (line, objection) => lineRefusedInTurn(this.#parts, line, objection),
        onFault,
      }),
      await LinePort.listen<VaultTokensRequest>({
        path: config.tokensSocket,
        isRequest: (value) => tokensRequest.Check(value),
        answer: (request, give) => tokens.answer(request, give),
        onFault,
      }),
    );
  }

  #health(): VaultHealth {
    const { record, outbox } = this.#parts;
    return {
      connected: record.isConnected,
      fault: this.#fault,
      holdsInDoubt: outbox.holdsInDoubt,
      awaitsClock: this.#awaitsClock,
    };
  }

  #status(): VaultStatus {
    const { acts, store, keys, epochs } = this.#parts;
    const living = epochs.living;
    const lastMs = Math.max(0, ...living.map(({ endsAt }) => endsAt));
    return {
      ...this.#health(),
      ...store.counts,
      ...{ keys: keys.count, holds: acts.holdCount, epochs: living.length },
      lastEpochEndsAt: lastMs === 0 ? null : new Date(lastMs).toISOString(),
      underWay: acts.underWay().length,
    };
  }

  async #answer(
    request: VaultControlRequest,
    give: (line: object) => Promise<void>,
  ): Promise<object> {
    switch (request.verb) {
      case "status":
        return this.#status();
      case "health":
        return this.#health();
      case "erase":
        return this.#erasures.erase(request);
      case "hold":
      case "lift":
        return setOrLiftHold(this.#parts, request);
      case "hold-unproven":
        return setUnprovenHold(this.#parts, request);
      case "confirm-holds":
        return confirmHolds(this.#parts, request);
      case "refuse":
        return refuse(this.#parts, request);
      case "disclose":
        return disclose(this.#parts, request, give);
    }
  }

  async #work(): Promise<void> {
    const { config, log } = this.#parts;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const faults: Error[] = [];
      // Each by itself: epoch keys end on their day whether or not auditd is there.
      for (const duty of [
        () => this.#keepEpochs(),
        () => this.#closeUnknown(),
        () => this.#drain(),
        () => this.#goOn(),
        () => this.#retain(),
      ])
        await duty().catch((error: unknown) =>
          faults.push(error instanceof Error ? error : new Error("no error", { cause: error })),
        );
      if (signal.aborted) return;
      const [fault] = faults.filter((error) => !(error instanceof AuditUnavailable));
      const reason = fault === undefined ? null : reasonOf(fault);
      if (reason !== null && reason !== this.#reason)
        log.error({ err: fault }, "the vault's own work fails");
      this.#reason = reason;
      this.#fault = fault === undefined ? null : { code: codeOf(fault), message: fault.message };
      await pause(config.pollMs, undefined, { signal }).catch(() => {});
    }
  }

  /** What the log has ended is settled first: no second end is said of it. */
  async #heard(connection: AuditConnection): Promise<void> {
    await reconcileLife(
      this.#parts,
      { erasures: this.#erasures, retention: this.#retention },
      connection,
    );
    closeInterrupted(this.#parts.acts, this.#interrupted);
    this.#interrupted = new Set();
  }

  #keepEpochs(): Promise<void> {
    const { epochs, turns, config, record } = this.#parts;
    return turns.run(async () => {
      const nowMs = Date.now();
      await epochs.endOverdue(nowMs);
      // Of keys that were put back, and are to go again, no copy is made.
      if (nowMs < this.#backUpAfterMs || !record.wasConnected) return;
      await epochs.backUp(nowMs);
      this.#backUpAfterMs = nowMs + config.backupMs;
    });
  }

  /** Once in each life that begins in the log: an operation that no row tells of is of one before. */
  async #closeUnknown(): Promise<void> {
    const { connection } = this.#parts.record;
    if (connection === this.#askedForOpen) return;
    await closeUnknown(this.#parts);
    this.#askedForOpen = connection;
  }

  async #drain(): Promise<void> {
    const { intake, record, outbox, turns, signal } = this.#parts;
    // Asked out of turn first: an auditd that hangs would hold up everybody for as long as a segment may take.
    const isAnyWaiting = (await record.connection.spooled()) !== null;
    await turns.run(async () => {
      try {
        if (isAnyWaiting) await intake.drain(record.connection, signal);
        await recordSpool(outbox, record, null);
      } catch (error) {
        if (error instanceof SpoolBlocked) await recordSpool(outbox, record, error);
        throw error;
      }
    });
  }

  /** What an earlier life, or one that auditd left alone, has not brought to its end. */
  async #goOn(): Promise<void> {
    const { acts, outbox, record } = this.#parts;
    if (!record.wasConnected) return;
    for (const { op, kind, state } of acts.underWay()) {
      if (state === "asked" || (state === "requested" && outbox.holdsInDoubt)) continue;
      if (kind === "erasure") await this.#erasures.goOn(op);
      if (kind === "retention") await this.#retention.goOn(op);
    }
  }

  async #retain(): Promise<void> {
    const { outbox, record } = this.#parts;
    // Only who is connected knows whether the log has holds that this database lacks.
    if (!record.isConnected || outbox.holdsInDoubt) return;
    const today = dayOf(Date.now());
    if (today === this.#retainedOn) return;
    const { clock } = await record.connection.status();
    if (!clock.trusted) {
      if (today !== this.#lookedOn) this.#awaitsClock = this.#retention.isOverdue(Date.now());
      this.#lookedOn = today;
      return;
    }
    if (clock.heartbeatAt === null) return;
    // What is over by one look at the clock alone is not over.
    const nowMs = Math.min(Date.now(), Date.parse(clock.heartbeatAt));
    await this.#retention.enforce(nowMs);
    await askForOldShards(this.#parts, nowMs);
    this.#awaitsClock = false;
    this.#lookedOn = "";
    this.#retainedOn = dayOf(nowMs);
  }
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "internal";
}
