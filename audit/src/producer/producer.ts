/** The one door through which other processes reach the audit log. Which producer it is, the socket says. */
import {
  EVENT_CATALOGUE,
  type EventType,
  type FactType,
  type OperationType,
} from "@resontech/contracts/audit-catalogue";
import type { EventDraft } from "@resontech/contracts/audit-draft";
import { AWAITS_WITNESS } from "@resontech/contracts/witnessed-operations";
import type { Disclosure, Outcome } from "@resontech/contracts/audit-event";
import type { NodeEvents, NodeEventsReply } from "@resontech/contracts/node-audit";
import { AuditRejected, type ComposedEvent, composeEvent } from "../format/event/compose-event.ts";
import type { LogStatus } from "@resontech/contracts/audit-control";
import {
  type CosignReply,
  type LeafRef,
  type LogPlace,
  MAX_OPERATIONS_ASKED,
  type OpenOperation,
  type SaidOfOperation,
  type SeenTree,
  type Spooled,
  WITNESS_WAIT_MS,
  type Witnessed,
} from "../format/wire/frames.ts";
import { AuditUnavailable } from "./errors.ts";
import { Link } from "./link.ts";

export { stepUpNonce } from "../format/approval/step-up-nonce.ts";
export { commitment, committer } from "../format/event/commitment.ts";
export { AuditRejected, type ComposedEvent, composeEvent } from "../format/event/compose-event.ts";
export { joinKey, SIGNATURE_PARAMETER, urlSha256 } from "../format/event/join-keys.ts";
export type { LogStatus } from "@resontech/contracts/audit-control";
export type {
  LeafRef,
  LogPlace,
  OpenOperation,
  SaidOfOperation,
  SeenTree,
  Spooled,
} from "../format/wire/frames.ts";
export { AuditUnavailable } from "./errors.ts";
export { type Refusal, type Repeats, RefusalTally } from "./refusal-tally.ts";

/** Longest wait for a durable acknowledgement, as the design has it; test/producer/producer.engines.test.ts pins it. */
export const ACKNOWLEDGEMENT_TIMEOUT_MS = 2_000;
const CONNECT_TIMEOUT_MS = 10_000;
const MAX_UNACKNOWLEDGED = 10_000;
/** A segment of 4 MiB is read, or overwritten and synced. */
const SPOOL_TIMEOUT_MS = 30_000;

export type ProducerOptions = {
  socketPath: string;
  /** This life of the producer: new at each process start, or the database generation. */
  boot: string;
  /** First sequence number of this boot. @default 1 */
  firstPseq?: number;
  /** The highest acknowledgement this producer keeps; auditd compares it with the log. */
  highestAck?: LeafRef;
  /** What this process has seen of the log, for one that reads it; asked at each connection. */
  seen?: () => readonly SeenTree[];
  /** Aborting it closes at once; what is unacknowledged rejects. */
  signal?: AbortSignal;
  /** Longest wait for the first welcome, milliseconds. @default 10000 */
  connectTimeoutMs?: number;
};

/**
 * Where the request of an operation lies. `unwitnessed`: no witness saw it in time, and it may go on all the same; its completed outcome says so.
 */
export type Requested = LeafRef & { unwitnessed: boolean };

/** How an operation ended. */
export type OutcomeDraft<T extends OperationType> = Omit<EventDraft<T>, "phase" | "outcome"> &
  ({ phase: "completed"; outcome?: Outcome } | { phase: "failed" | "denied"; outcome: Outcome });

/** Types of what happened elsewhere and is found afterwards. */
type ObservedType = {
  [T in EventType]: "observed" extends (typeof EVENT_CATALOGUE)[T]["phases"][number] ? T : never;
}[EventType];

export interface AuditConnection extends AsyncDisposable {
  /** Operations of this producer's family without an outcome, oldest first. */
  openOperations(): Promise<OpenOperation[]>;
  /**
   * What the log says of operations of this family behind an entry, in order; of the shard that is written and the one before. It reads all that
   * follows, which may take minutes: for a producer whose database was put back.
   */
  findOutcomes(ops: readonly string[], after?: LogPlace): Promise<SaidOfOperation[]>;
  status(): Promise<LogStatus>;
  /**
   * Hands on what a node signed, unopened; for the one producer that auditd takes it from.
   * @throws {@link AuditUnavailable} without an answer in 2 s: the node sends it again
   */
  relay(node: string, events: NodeEvents): Promise<NodeEventsReply>;
  /**
   * Waits for a signed checkpoint that covers the leaf; one is made at once.
   * @param leafHash of the leaf, for one that may stand in the shard before; without it the shard that is written is asked first
   */
  covered(index: number, leafHash?: string): Promise<{ checkpointSize: number }>;
  /** Signature lines of witnesses for a checkpoint of the log; of the producer `audit-out` alone. auditd judges them. */
  cosign(origin: string, size: number, lines: string): Promise<CosignReply>;
  /** Waits, at most 5 s, for a checkpoint that covers the leaf and that the policy's quorum of witnesses cosigned. */
  witnessed(index: number, leafHash?: string): Promise<Witnessed>;
  /** The shard that holds the leaf of an acknowledgement; null for none that is written or was last. */
  shardOf(ref: LeafRef): Promise<string | null>;
  /** What waits longest to be sealed; of the producer `vault` alone. Null when nothing does. */
  spooled(): Promise<Spooled | null>;
  /** The vault has it for good; auditd keeps nothing of it when this resolves. */
  sealed(origin: string, segment: string): Promise<void>;
  /**
   * No legal hold stands: auditd may delete shards whose last entry is older; of the producer `vault` alone.
   * @returns origins of those that are as good as gone
   */
  deleteShards(before: string): Promise<string[]>;
  readonly connected: boolean;
  /** The log's disk is nearly full: take no new work. */
  readonly draining: boolean;
  readonly highestAck: LeafRef | undefined;
  /** The number of this life's last event that auditd had when it welcomed this connection. */
  readonly acceptedPseq: number;
  /** Why the last connection ended, for the log. */
  readonly lastError: string | null;
  /** Lets what is under way be acknowledged, for 2 s, then closes. */
  close(): Promise<void>;
}

/** Counts `pseq` itself: the gate, the `appliance` command, any process without a database. */
export interface AuditProducer extends AuditConnection {
  /**
   * Resolves once the event is durable.
   * @throws {@link AuditUnavailable} after 2 s, or at once when it is clear that it can't be: the effect must not happen. The event
   *   may still reach the log; a `requested` that does is closed with `failed`, code `audit_timeout`.
   * @throws {@link AuditRejected} for an event that breaks a rule
   */
  append(draft: EventDraft, disclosures?: readonly Disclosure[]): Promise<LeafRef>;
  /**
   * Opens operation `op`; await it before the effect. An operation of `AWAITS_WITNESS` waits up to 5 s more, until a witness of the policy has seen it.
   * @throws as `append`; {@link AuditUnavailable} also when none has and the operator chose that it must
   */
  requested<T extends OperationType>(
    draft: Omit<EventDraft<T>, "phase">,
    disclosures?: readonly Disclosure[],
  ): Promise<Requested>;
  /** Closes operation `op`; a completed one says `ok` unless told otherwise. It is sent until the log has it, also after a rejection. */
  outcome<T extends OperationType>(
    draft: OutcomeDraft<T>,
    disclosures?: readonly Disclosure[],
  ): Promise<LeafRef>;
  /** One record without an outcome. */
  fact<T extends FactType>(
    draft: Omit<EventDraft<T>, "phase">,
    disclosures?: readonly Disclosure[],
  ): Promise<LeafRef>;
  /**
   * One record of what has happened already, elsewhere. It is sent until the log has it and resolves then, however long that takes: who gave
   * up and tried again would write it twice.
   * @throws {@link AuditUnavailable} when the producer is closed; {@link AuditRejected} as `append`
   */
  observed<T extends ObservedType>(
    draft: Omit<EventDraft<T>, "phase">,
    disclosures?: readonly Disclosure[],
  ): Promise<LeafRef>;
}

/** Sends events that {@link composeEvent} made inside a transaction, in the order of their `pseq`. */
export interface AuditRecordProducer extends AuditConnection {
  /**
   * Pumps one row; several may be under way. Resolves once durable, however long it takes.
   * @throws {@link AuditRejected} `settled`: auditd logged a refusal in its place, go on with the next row; else the row's number is
   *   not the one that the log expects, and nothing may follow it
   * @throws {@link AuditUnavailable} when the producer is closed
   */
  append(composed: ComposedEvent): Promise<LeafRef>;
}

/** @throws AuditUnavailable when auditd is silent for so long */
async function answerWithin(timeoutMs: number, answer: Promise<unknown>): Promise<unknown> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new AuditUnavailable("timeout", `no answer in ${timeoutMs} ms`)),
    timeoutMs,
  );
  try {
    return await Promise.race([answer, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Connects, and keeps connecting until closed.
 * @throws {@link AuditUnavailable} when auditd does not welcome it in time; `superseded`: another life of this producer has begun since
 */
export async function connectProducer(options: ProducerOptions): Promise<AuditProducer> {
  return new CountingProducer(await welcomedLink(options), options);
}

/** The same for a caller that numbers its events itself; `boot` and `firstPseq` are its own. */
export async function connectRecordProducer(
  options: ProducerOptions,
): Promise<AuditRecordProducer> {
  return new RowProducer(await welcomedLink(options));
}

async function welcomedLink(options: ProducerOptions): Promise<Link> {
  const {
    socketPath,
    boot,
    firstPseq = 1,
    highestAck,
    seen,
    signal,
    connectTimeoutMs = CONNECT_TIMEOUT_MS,
  } = options;
  const link = new Link({ socketPath, boot, firstPseq, highestAck, seen, signal });
  const timer = setTimeout(() => link.destroy(), connectTimeoutMs);
  try {
    await link.welcomed;
    return link;
  } catch (error) {
    link.destroy();
    if (
      signal?.aborted === true ||
      (error instanceof AuditUnavailable && error.reason === "superseded")
    )
      throw error;
    const why = link.lastError ?? `no answer in ${connectTimeoutMs} ms`;
    throw new AuditUnavailable(
      "disconnected",
      `auditd at ${socketPath} does not welcome this producer: ${why}`,
    );
  } finally {
    clearTimeout(timer);
  }
}

abstract class Connection implements AuditConnection {
  protected readonly link: Link;

  constructor(link: Link) {
    this.link = link;
  }

  async openOperations(): Promise<OpenOperation[]> {
    const reply = (await this.link.query({ verb: "open-operations" })) as {
      operations: OpenOperation[];
    };
    return reply.operations;
  }

  async findOutcomes(ops: readonly string[], after?: LogPlace): Promise<SaidOfOperation[]> {
    const said: SaidOfOperation[] = [];
    for (let at = 0; at < ops.length; at += MAX_OPERATIONS_ASKED) {
      const some = ops.slice(at, at + MAX_OPERATIONS_ASKED);
      const reply = await this.link.query({
        verb: "said-of",
        ops: some,
        ...(after === undefined ? {} : { after }),
      });
      said.push(...(reply as { said: SaidOfOperation[] }).said);
    }
    return said;
  }

  async status(): Promise<LogStatus> {
    return (await this.link.query({ verb: "status" })) as LogStatus;
  }

  async relay(node: string, events: NodeEvents): Promise<NodeEventsReply> {
    return (await answerWithin(
      ACKNOWLEDGEMENT_TIMEOUT_MS,
      this.link.query({ verb: "relay", node, ...events }),
    )) as NodeEventsReply;
  }

  async covered(index: number, leafHash?: string): Promise<{ checkpointSize: number }> {
    return (await this.link.query({
      verb: "cover",
      index,
      ...(leafHash === undefined ? {} : { leafHash }),
    })) as {
      checkpointSize: number;
    };
  }

  async cosign(origin: string, size: number, lines: string): Promise<CosignReply> {
    return (await this.link.query({ verb: "cosign", origin, size, lines })) as CosignReply;
  }

  async witnessed(index: number, leafHash?: string): Promise<Witnessed> {
    const answer = this.link.query({
      verb: "witnessed",
      index,
      ...(leafHash === undefined ? {} : { leafHash }),
    });
    return (await answerWithin(WITNESS_WAIT_MS + ACKNOWLEDGEMENT_TIMEOUT_MS, answer)) as Witnessed;
  }

  async shardOf({ index, leafHash }: LeafRef): Promise<string | null> {
    const answer = this.link.query({ verb: "shard-of", index, leafHash });
    return ((await answerWithin(ACKNOWLEDGEMENT_TIMEOUT_MS, answer)) as { origin: string | null })
      .origin;
  }

  async spooled(): Promise<Spooled | null> {
    const answer = await answerWithin(SPOOL_TIMEOUT_MS, this.link.query({ verb: "disclosures" }));
    return (answer as { spooled: Spooled | null }).spooled;
  }

  async sealed(origin: string, segment: string): Promise<void> {
    await answerWithin(SPOOL_TIMEOUT_MS, this.link.query({ verb: "sealed", origin, segment }));
  }

  async deleteShards(before: string): Promise<string[]> {
    const answer = await answerWithin(
      SPOOL_TIMEOUT_MS,
      this.link.query({ verb: "delete-shards", before }),
    );
    return (answer as { origins: string[] }).origins;
  }

  get connected(): boolean {
    return this.link.downMs === 0;
  }

  get draining(): boolean {
    return this.link.draining;
  }

  get highestAck(): LeafRef | undefined {
    return this.link.highestAck;
  }

  get acceptedPseq(): number {
    return this.link.acceptedPseq;
  }

  get lastError(): string | null {
    return this.link.lastError;
  }

  close(): Promise<void> {
    return this.link.close(ACKNOWLEDGEMENT_TIMEOUT_MS);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

class CountingProducer extends Connection implements AuditProducer {
  readonly #boot: string;
  #nextPseq: number;

  constructor(link: Link, options: ProducerOptions) {
    super(link);
    this.#boot = options.boot;
    this.#nextPseq = options.firstPseq ?? 1;
  }

  async append(draft: EventDraft, disclosures: readonly Disclosure[] = []): Promise<LeafRef> {
    this.#refuseWhatCannotBecomeDurable(draft);
    const sent = this.#send(draft, disclosures);
    const timedOut = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      timedOut.reject(
        new AuditUnavailable("timeout", `no acknowledgement in ${ACKNOWLEDGEMENT_TIMEOUT_MS} ms`),
      );
      if (draft.phase === "requested") this.#closeWhenAcknowledged(sent, draft);
      else sent.catch(() => {});
    }, ACKNOWLEDGEMENT_TIMEOUT_MS);
    try {
      return await Promise.race([sent, timedOut.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  async requested<T extends OperationType>(
    draft: Omit<EventDraft<T>, "phase">,
    disclosures?: readonly Disclosure[],
  ): Promise<Requested> {
    const request: EventDraft = { ...draft, phase: "requested" };
    const leaf = await this.append(request, disclosures);
    if (!AWAITS_WITNESS.has(draft.type)) return { ...leaf, unwitnessed: false };
    const { needsWitness, witnessed, mayGoOn } = await this.#witnessed(request, leaf);
    const unwitnessed = needsWitness && !witnessed;
    if (unwitnessed && !mayGoOn) {
      this.#close(request, "denied", "unwitnessed");
      throw new AuditUnavailable(
        "unwitnessed",
        "no witness has seen the request, and without one it is refused",
      );
    }
    return { ...leaf, unwitnessed };
  }

  outcome<T extends OperationType>(
    draft: OutcomeDraft<T>,
    disclosures?: readonly Disclosure[],
  ): Promise<LeafRef> {
    return this.append({ ...draft, outcome: draft.outcome ?? { code: "ok" } }, disclosures);
  }

  fact<T extends FactType>(
    draft: Omit<EventDraft<T>, "phase">,
    disclosures?: readonly Disclosure[],
  ): Promise<LeafRef> {
    return this.append({ ...draft, phase: "fact" }, disclosures);
  }

  async observed<T extends ObservedType>(
    draft: Omit<EventDraft<T>, "phase">,
    disclosures: readonly Disclosure[] = [],
  ): Promise<LeafRef> {
    return this.#send({ ...draft, phase: "observed" }, disclosures);
  }

  #send(draft: EventDraft, disclosures: readonly Disclosure[]): Promise<LeafRef> {
    const composed = composeEvent(draft, { boot: this.#boot, pseq: this.#nextPseq }, disclosures);
    this.#nextPseq += 1;
    return this.link.send(composed);
  }

  /**
   * Refusing here spends no sequence number, so nothing that the caller gave up on reaches the log later. An outcome is never refused: its
   * effect has happened, so it is kept and sent when auditd is back; there are no more of them than operations that were let in.
   */
  #refuseWhatCannotBecomeDurable(draft: EventDraft): void {
    if (draft.phase !== "requested" && draft.phase !== "fact") return;
    if (this.link.downMs > ACKNOWLEDGEMENT_TIMEOUT_MS)
      throw new AuditUnavailable("disconnected", "no connection to auditd");
    if (this.link.unacknowledgedCount >= MAX_UNACKNOWLEDGED)
      throw new AuditUnavailable("backlog", `${MAX_UNACKNOWLEDGED} events are not acknowledged`);
    if (
      this.link.draining &&
      draft.phase === "requested" &&
      !EVENT_CATALOGUE[draft.type].whileDraining
    )
      throw new AuditUnavailable("draining", "the disk of the audit log is nearly full");
  }

  /** Without an answer nobody knows what the operator chose, so the effect must not happen. */
  async #witnessed(request: EventDraft, { index, leafHash }: LeafRef): Promise<Witnessed> {
    try {
      return await this.witnessed(index, leafHash);
    } catch (error) {
      this.#close(request, "failed", "audit_timeout");
      throw new AuditUnavailable(
        "disconnected",
        `no answer whether a witness has seen the request: ${String(error)}`,
      );
    }
  }

  /** The caller was told that the effect won't happen; should the request reach the log all the same, the log says so too. */
  #closeWhenAcknowledged(sent: Promise<LeafRef>, draft: EventDraft): void {
    sent.then(() => this.#close(draft, "failed", "audit_timeout")).catch(() => {});
  }

  #close({ type, op, actor, object }: EventDraft, phase: "failed" | "denied", code: string): void {
    this.#send({ type, op, actor, object, phase, outcome: { code } }, []).catch(() => {});
  }
}

class RowProducer extends Connection implements AuditRecordProducer {
  #lastPseq: number | null = null;

  async append(composed: ComposedEvent): Promise<LeafRef> {
    if (this.#lastPseq !== null && composed.pseq !== this.#lastPseq + 1)
      throw new AuditRejected("order", `pseq ${composed.pseq} follows ${this.#lastPseq}`);
    this.#lastPseq = composed.pseq;
    return this.link.send(composed);
  }
}
