/**
 * Says in the log what audit-out has to say. auditd may be away for as long as it likes, and then the newest facts are kept until it is back: nobody
 * waits but those who ask to.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { FactType } from "@resontech/contracts/audit-catalogue";
import type { EventDraft } from "@resontech/contracts/audit-draft";
import { abortable } from "@resontech/frame/abortable";
import type { Logger } from "pino";
import {
  type AuditProducer,
  AuditRejected,
  AuditUnavailable,
  connectProducer,
  type SeenTree,
} from "@resontech/audit/producer";

/** Facts that wait for auditd; older ones go first, and the process' own log has them. */
const MAX_WAITING = 256;
const RETRY_MS = 2_000;
/** As many as auditd hears of. */
const MAX_SEEN = 64;

export type OwnFact<T extends FactType = FactType> = Pick<EventDraft<T>, "type" | "detail"> & {
  object: EventDraft<T>["object"];
};

/** A fact that waits, and whoever waits for it. */
type Waiting = { fact: OwnFact; said: PromiseWithResolvers<void> };

export class Reporter implements AsyncDisposable {
  readonly #socketPath: string;
  readonly #seen: () => readonly SeenTree[];
  readonly #learn: () => Promise<readonly SeenTree[]>;
  #learned: readonly SeenTree[] = [];
  #producer: AuditProducer | null = null;
  readonly #log: Logger;
  readonly #stop = new AbortController();
  readonly #waiting: Waiting[] = [];
  #wake = Promise.withResolvers<void>();
  #running: Promise<void>;

  /**
   * auditd signs nothing for a log that is older than what it hears of at the connection.
   * @param seen what was read of the log, also by an earlier life
   * @param learn what the witnesses say, before the first connection
   */
  constructor(
    socketPath: string,
    seen: () => readonly SeenTree[],
    learn: () => Promise<readonly SeenTree[]>,
    log: Logger,
  ) {
    this.#socketPath = socketPath;
    this.#seen = seen;
    this.#learn = learn;
    this.#log = log;
    this.#running = this.#run();
  }

  report<T extends FactType>(fact: OwnFact<T>): void {
    this.#add(fact).catch(() => {}); // The process' own log has it.
  }

  /** Resolves once auditd has the fact, or refuses it. @throws the signal's reason; Error when newer facts took its place */
  async say<T extends FactType>(fact: OwnFact<T>, signal: AbortSignal): Promise<void> {
    const said = this.#add(fact);
    said.catch(() => {});
    await abortable(said, signal);
  }

  #add(fact: OwnFact): Promise<void> {
    if (this.#waiting.length === MAX_WAITING) {
      const oldest = this.#waiting.shift()!;
      this.#log.warn({ fact: oldest.fact }, "auditd is away; this fact is given up");
      oldest.said.reject(new Error("auditd is away, and newer facts took this one's place"));
    }
    const said = Promise.withResolvers<void>();
    this.#waiting.push({ fact, said });
    this.#wake.resolve();
    return said.promise;
  }

  /** Hands auditd what witnesses signed. @throws AuditUnavailable while there is no connection */
  async handBack(origin: string, size: number, lines: string): Promise<void> {
    if (this.#producer === null)
      throw new AuditUnavailable("disconnected", "no connection to auditd");
    await this.#producer.cosign(origin, size, lines);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#wake.resolve();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    this.#learned = await this.#learn();
    while (!signal.aborted) {
      try {
        await using producer = await connectProducer({
          socketPath: this.#socketPath,
          boot: randomUUID(),
          seen: () => [...this.#learned, ...this.#seen()].slice(0, MAX_SEEN),
          signal,
        });
        this.#producer = producer;
        await this.#drain(producer);
      } catch (error) {
        if (signal.aborted) return;
        this.#log.debug({ err: error }, "auditd is away");
      } finally {
        this.#producer = null;
      }
      await pause(RETRY_MS, undefined, { signal }).catch(() => {});
    }
  }

  /** Ends with the connection. A fact whose acknowledgement did not come is said again: twice is no harm, never is. */
  async #drain(producer: AuditProducer): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const [oldest] = this.#waiting;
      if (oldest === undefined) {
        this.#wake = Promise.withResolvers<void>();
        await this.#wake.promise;
        continue;
      }
      const { fact, said } = oldest;
      try {
        await producer.fact({
          ...fact,
          op: randomUUID(),
          actor: { sub: "audit-out", kind: "system" },
        });
      } catch (error) {
        if (!(error instanceof AuditRejected)) throw error;
        this.#log.error({ err: error, fact }, "auditd refuses this fact");
      }
      said.resolve();
      if (this.#waiting[0] === oldest) this.#waiting.shift();
    }
  }
}
