/** Keeps a connection to auditd, brings what stands in the outbox to the log, in order, and says where it stands. */
import { setTimeout as pause } from "node:timers/promises";
import type { EventDraft } from "@resontech/contracts/audit-draft";
import type { Logger } from "pino";
import {
  type AuditConnection,
  type AuditRecordProducer,
  AuditRejected,
  AuditUnavailable,
  connectRecordProducer,
  type OpenOperation,
} from "@resontech/audit/producer";
import type { Outbox, OutboxRow, Place } from "./outbox.ts";

const RETRY_MS = 250;
/** As long as any producer waits for a durable acknowledgement. */
const ACKNOWLEDGEMENT_TIMEOUT_MS = 2_000;

export class AuditRecord implements AsyncDisposable {
  readonly #outbox: Outbox;
  readonly #socketPath: string;
  readonly #log: Logger;
  readonly #beforeSending: (connection: AuditConnection) => Promise<void>;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #producer: AuditRecordProducer | null = null;
  #wasConnected = false;
  #lastFault = "";
  #sent = 0;
  readonly #waiting = new Map<string, PromiseWithResolvers<Place>>();
  #wake = Promise.withResolvers<void>();

  /** @param beforeSending done on each connection whose life is the database's, before anything is sent on it, or anybody gets it */
  constructor(
    outbox: Outbox,
    socketPath: string,
    log: Logger,
    beforeSending: (connection: AuditConnection) => Promise<void>,
  ) {
    this.#outbox = outbox;
    this.#socketPath = socketPath;
    this.#log = log;
    this.#beforeSending = beforeSending;
    // Whether or not anybody waits for it: an operation whose end is not sent stays open in the log.
    outbox.whenWritten(() => this.#wake.resolve());
    this.#running = this.#run();
  }

  get isConnected(): boolean {
    return this.#producer?.connected === true;
  }

  /** This process has heard from the log, once at least, whether it is older than what it says: a database that was put back can't tell. */
  get wasConnected(): boolean {
    return this.#wasConnected;
  }

  /** @throws AuditUnavailable while auditd is away: nothing that needs it may begin */
  get connection(): AuditConnection {
    if (this.#producer?.connected !== true)
      throw new AuditUnavailable("disconnected", "no connection to auditd");
    return this.#producer;
  }

  /** Sends what the outbox has of this operation, and all before it; however long it takes. @throws AuditRejected, also when it was before */
  async #durable(op: string, phase: EventDraft["phase"]): Promise<Place> {
    const place = this.#outbox.placeOf(op, phase);
    if (place !== null) return place;
    if (this.#outbox.isRefused(op, phase))
      throw new AuditRejected("refused", "auditd refused this record", true);
    const waiting = this.#waiting.get(`${op} ${phase}`) ?? Promise.withResolvers<Place>();
    this.#waiting.set(`${op} ${phase}`, waiting);
    this.#wake.resolve();
    return await waiting.promise;
  }

  /** @throws AuditUnavailable after 2 s: what needs the record must not happen, though the log will get it. AuditRejected */
  async durableInTime(op: string, phase: EventDraft["phase"]): Promise<Place> {
    return this.#inTime(this.#durable(op, phase), "acknowledgement");
  }

  /** Operations of the vault that have no outcome in the log, oldest first. @throws AuditUnavailable, also without an answer in 2 s */
  async openOperations(): Promise<OpenOperation[]> {
    return this.#inTime(this.connection.openOperations(), "answer");
  }

  async #inTime<T>(awaited: Promise<T>, what: string): Promise<T> {
    awaited.catch(() => {});
    const late = pause(ACKNOWLEDGEMENT_TIMEOUT_MS, null, {
      signal: this.#stop.signal,
      ref: false,
    }).catch(() => null);
    const first = await Promise.race([awaited, late]);
    if (first === null)
      throw new AuditUnavailable("timeout", `no ${what} in ${ACKNOWLEDGEMENT_TIMEOUT_MS} ms`);
    return first;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#wake.resolve();
    await this.#running;
    const closed = new AuditUnavailable("closed", "the vault stops");
    for (const { promise, reject } of this.#waiting.values()) {
      promise.catch(() => {});
      reject(closed);
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        await using producer = await connectRecordProducer({
          ...{
            socketPath: this.#socketPath,
            boot: this.#outbox.boot,
            firstPseq: this.#outbox.firstPseq,
            signal,
          },
          ...(this.#outbox.highestAck === undefined ? {} : { highestAck: this.#outbox.highestAck }),
        });
        // Before anything is destroyed on its word.
        if (producer.acceptedPseq > this.#outbox.lastPseq)
          throw new AuditRejected(
            "order",
            `the log has ${producer.acceptedPseq} records of this life, not ${this.#outbox.lastPseq}`,
          );
        await this.#beforeSending(producer);
        this.#wasConnected = true;
        this.#producer = producer;
        this.#sent = 0;
        await this.#pump(producer);
      } catch (error) {
        if (signal.aborted) return;
        const isSuperseded = error instanceof AuditUnavailable && error.reason === "superseded";
        if (error instanceof AuditRejected || isSuperseded) {
          this.#log.error(
            { err: error },
            "the log has other records under these numbers: this database was put back; it begins a new life",
          );
          this.#outbox.beginLife();
        } else if (error instanceof AuditUnavailable)
          this.#log.debug({ err: error }, "auditd is away");
        else this.#faulted(error);
      } finally {
        this.#producer = null;
      }
      await pause(RETRY_MS, undefined, { signal }).catch(() => {});
    }
  }

  /** Said once, however often it is tried. */
  #faulted(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    if (message !== this.#lastFault)
      this.#log.error({ err: error }, "what the log has ended can't be settled; it is tried again");
    this.#lastFault = message;
  }

  /** Ends with an error of the connection, or of the sequence. */
  async #pump(producer: AuditRecordProducer): Promise<void> {
    const failed = Promise.withResolvers<never>();
    failed.promise.catch(() => {});
    while (!this.#stop.signal.aborted) {
      this.#wake = Promise.withResolvers<void>();
      for (const row of this.#outbox.unanswered(this.#sent)) {
        this.#sent = row.pseq;
        this.#bring(producer, row).catch(failed.reject);
      }
      await Promise.race([this.#wake.promise, failed.promise]);
    }
  }

  async #bring(producer: AuditRecordProducer, row: OutboxRow): Promise<void> {
    const { pseq } = row;
    const key = `${row.op} ${row.phase}`;
    try {
      const leaf = await producer.append(row);
      const origin = await producer.shardOf(leaf);
      if (origin === null)
        throw new AuditUnavailable("disconnected", "the log does not say where its leaf stands");
      const place = { ...leaf, origin };
      this.#outbox.answered(pseq, place);
      this.#waiting.get(key)?.resolve(place);
      this.#waiting.delete(key);
    } catch (error) {
      if (!(error instanceof AuditRejected) || !error.settled) throw error;
      this.#log.error({ err: error, pseq }, "auditd refuses this record");
      this.#outbox.refused(pseq);
      this.#waiting.get(key)?.reject(error);
      this.#waiting.delete(key);
    }
  }
}
