/**
 * What auditd knows of the log besides its tree: where each producer stands, which operations are open, the highest generation.
 * Pure: admission is judged here and nothing is remembered until {@link Ledger.apply} is told of the leaf, so that replaying the
 * leaves of a log gives the same ledger as having written them.
 */
import {
  type CatalogueEntry,
  EVENT_CATALOGUE,
  type EventType,
} from "@resontech/contracts/audit-catalogue";
import type { AuditEvent } from "@resontech/contracts/audit-draft";
import type { LeafRef, OpenOperation } from "@resontech/audit/format/wire/frames";
import { instantOf, msOf } from "@resontech/audit/format/event/instant";
import type { Refusal } from "@resontech/audit/format/event/event-rules";
import type { LostShard } from "./restore-plan.ts";
import type { SentEvent } from "./read-event.ts";
import { type ProducerSnapshot, Sequence } from "./sequence.ts";

export const AUDITD = "auditd";
/** The family whose generations fence jobs; nobody else may tell of them. */
const COORDINATOR = "coordinator";
/** Of one family: the verifier judges 50,000 in all. */
const MAX_OPEN = 10_000;
/** At least so many, at most twice. */
const CLOSED_REMEMBERED = 65_536;

/** An operation that was requested; index and leaf hash are those of its request, in the shard in which it was made. */
export type Opened = {
  type: EventType;
  prod: string;
  family: string;
  index: number;
  leafHash: string;
  t: string;
  tLog: string /** Null: this shard. */;
  origin: string | null;
};

export type LedgerSnapshot = {
  tLogMs: number;
  highestGeneration: number;
  producers: ProducerSnapshot[];
  open: [op: string, opened: Opened][];
  losses: string[];
  nextShard: NextShard | null;
  isClosed: boolean;
  follows: Follows | null;
  lacksWitness: boolean;
};

/** The shard before this one; where that was put back to an older state what was lost of it, and of shards that had followed it. */
export type Follows = {
  origin: string;
  lostFrom: number;
  lostTo: number;
  lost: readonly LostShard[];
};

/** What a producer holds of the log, in its life `boot`. */
export type Acknowledged = LeafRef & { prod: string; boot: string };

/** The shard that is prepared, and the keys that were named for it. */
export type NextShard = { origin: string; keys: readonly string[] };

export class Ledger {
  readonly #families: ReadonlyMap<string, string>;
  readonly #sequences = new Map<string, Sequence>();
  readonly #open = new Map<string, Opened>();
  /** How many of them are a family's. */
  readonly #openOf = new Map<string, number>();
  /** Operations closed lately; the verifier counts over the whole log. */
  #closed = new Set<string>();
  /** Those closed before {@link #closed} began. */
  #closedBefore = new Set<string>();
  readonly #losses = new Set<string>();
  #tLogMs = 0;
  #highestGeneration = 0;
  #nextShard: NextShard | null = null;
  #isClosed = false;
  #follows: Follows | null = null;
  #lacksWitness = false;

  /** @param families family of each producer: its members close each other's operations */
  constructor(families: ReadonlyMap<string, string>, snapshot?: LedgerSnapshot) {
    this.#families = families;
    if (snapshot === undefined) return;
    this.#tLogMs = snapshot.tLogMs;
    this.#highestGeneration = snapshot.highestGeneration;
    for (const producer of snapshot.producers)
      this.#sequences.set(producer.name, new Sequence(producer));
    for (const [op, opened] of snapshot.open) this.#opens(op, opened);
    for (const loss of snapshot.losses) this.#losses.add(loss);
    this.#nextShard = snapshot.nextShard;
    this.#isClosed = snapshot.isClosed;
    this.#follows = snapshot.follows;
    this.#lacksWitness = snapshot.lacksWitness;
  }

  snapshot(): LedgerSnapshot {
    return {
      tLogMs: this.#tLogMs,
      highestGeneration: this.#highestGeneration,
      producers: [...this.#sequences.values()].map((sequence) => sequence.snapshot()),
      open: [...this.#open],
      losses: [...this.#losses],
      nextShard: this.#nextShard,
      isClosed: this.#isClosed,
      follows: this.#follows,
      lacksWitness: this.#lacksWitness,
    };
  }

  get highestGeneration(): number {
    return this.#highestGeneration;
  }

  get nextShard(): NextShard | null {
    return this.#nextShard;
  }

  get follows(): Follows | null {
    return this.#follows;
  }

  /** The log says that it goes without cosignatures, and not yet that this is over. */
  get lacksWitness(): boolean {
    return this.#lacksWitness;
  }

  /** The shard's last leaf is written: nothing follows in it. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Operations without an outcome, of all producers, oldest first. */
  get open(): ReadonlyMap<string, Readonly<Opened>> {
    return this.#open;
  }

  get openCount(): number {
    return this.#open.size;
  }

  sequence(prod: string): Sequence | undefined {
    return this.#sequences.get(prod);
  }

  /** Where each producer that ever spoke stands, for the heartbeat. */
  positions(): { prod: string; boot: string; pseq: number }[] {
    return [...this.#sequences.values()]
      .map(({ name, boot, lastPseq }) => ({ prod: name, boot, pseq: lastPseq }))
      .sort((a, b) => (a.prod < b.prod ? -1 : 1));
  }

  /** auditd's time for the next leaf: the clock's, never less than the last leaf's. */
  nextLogTime(nowMs: number): string {
    return instantOf(Math.max(nowMs, this.#tLogMs));
  }

  /** Whether an operation may be opened or closed by this event. */
  operationViolation(prod: string, event: SentEvent): Refusal | null {
    if (event.type === "admin.coordinator.start" && this.#family(prod) !== COORDINATOR)
      return { reason: "reserved_type", message: `${event.type} is the coordinator's own` };
    if (event.phase === "fact" || event.phase === "observed") return null;
    const opened = this.#open.get(event.op);
    if (event.phase === "requested" && (this.#openOf.get(this.#family(prod)) ?? 0) >= MAX_OPEN)
      return {
        reason: "operations_open",
        message: `${MAX_OPEN} operations of this family are open`,
      };
    if (event.phase === "requested")
      return opened === undefined &&
        !this.#closed.has(event.op) &&
        !this.#closedBefore.has(event.op)
        ? null
        : { reason: "operation_exists", message: "an operation is requested once" };
    if (opened === undefined)
      return { reason: "operation_unknown", message: "no such operation is open" };
    if (opened.type !== event.type)
      return { reason: "operation_type", message: `the operation is a ${opened.type}` };
    if (opened.family !== this.#family(prod))
      return {
        reason: "operation_family",
        message: "the operation belongs to another family of producers",
      };
    return null;
  }

  /** Whether the two close each other's operations. */
  isOfFamily(prod: string, other: string): boolean {
    return this.#family(prod) === this.#family(other);
  }

  openOperations(prod: string, nowMs: number): OpenOperation[] {
    const family = this.#family(prod);
    return [...this.#open]
      .filter(([, opened]) => opened.family === family)
      .map(([op, { type, prod, index, leafHash, t, tLog }]) => {
        const { maxOpenMs }: CatalogueEntry = EVENT_CATALOGUE[type];
        return {
          op,
          type,
          prod,
          index,
          leafHash,
          t,
          overdue: nowMs - Date.parse(tLog) > maxOpenMs,
        };
      });
  }

  /**
   * Whether what a producer holds is of those entries that a restore cost: two people took note of them. Whoever has spoken in this shard since
   * holds an entry of this one.
   */
  isKnownLoss({ prod, boot, index, leafHash }: Acknowledged): boolean {
    const known = this.#sequences.get(prod);
    const hasSpoken = known?.boot === boot && known.hasSpoken;
    return this.#isOfLost(index) && (!hasSpoken || this.knowsLoss(prod, index, leafHash));
  }

  #isOfLost(index: number): boolean {
    if (this.#follows === null) return false;
    const { lostFrom, lostTo, lost } = this.#follows;
    return (index >= lostFrom && index < lostTo) || lost.some(({ size }) => index < size);
  }

  /** Whether this loss is in the log already. */
  knowsLoss(prod: string, index: number, leafHash: string): boolean {
    return this.#losses.has(`${prod} ${index} ${leafHash}`);
  }

  /** Takes note of a leaf, in the order of the log. */
  apply(event: AuditEvent, index: number, leafHash: string): void {
    this.#tLogMs = msOf(event.t_log) ?? Number.NaN;
    // What the log says of itself is said by no other producer.
    if (event.prod === AUDITD) this.#applyOwn(event, index);
    const isCoordinators =
      event.type === "admin.coordinator.start" && this.#family(event.prod) === COORDINATOR;
    if (isCoordinators) this.#noteGeneration(event.detail?.["generation"]);
    this.#sequences.get(event.prod)?.advance(event.pseq, index);
    this.#applyOperation(event, index, leafHash);
  }

  #applyOwn({ type, op, object, detail = {} }: AuditEvent, index: number): void {
    switch (type) {
      case "audit.producer.start":
        return this.#startBoot(object.id, detail);
      case "audit.rejected":
        if (detail["taken"] === true)
          this.#sequences.get(object.id)?.advance(Number(detail["pseq"]), index);
        return;
      case "audit.lost":
        this.#losses.add(
          `${object.id} ${Number(detail["index"])} ${String(detail["leaf_sha256"])}`,
        );
        this.#sequences.get(object.id)?.allowGap();
        return;
      case "audit.shard.open":
        this.#noteGeneration(detail["generation"]);
        if (typeof detail["prev_origin"] === "string")
          this.#follows = {
            origin: detail["prev_origin"],
            lostFrom: Number(detail["prev_size"]),
            lostTo: Number(detail["seen_size"]),
            lost: (detail["lost"] ?? []) as LostShard[],
          };
        return;
      case "audit.shard.next":
        this.#nextShard = { origin: String(detail["origin"]), keys: detail["keys"] as string[] };
        return;
      case "audit.shard.close":
        this.#isClosed = true;
        return;
      case "audit.witness.lag":
        this.#lacksWitness = detail["over"] !== true;
        return;
      case "audit.op.carried":
        this.#carry(op, detail);
        return;
      default:
        // Of all else where the producer stands is enough.
        return;
    }
  }

  #noteGeneration(generation: unknown): void {
    this.#highestGeneration = Math.max(this.#highestGeneration, Number(generation));
  }

  #startBoot(prod: string, detail: Record<string, unknown>): void {
    const boot = String(detail["boot"]);
    const firstPseq = Number(detail["first_pseq"]);
    const known = this.#sequences.get(prod);
    if (known === undefined) this.#sequences.set(prod, Sequence.begin(prod, boot, firstPseq));
    else known.startBoot(boot, firstPseq);
  }

  #carry(op: string, detail: Record<string, unknown>): void {
    const prod = String(detail["prod"]);
    this.#opens(op, {
      type: detail["type"] as EventType,
      prod,
      family: this.#family(prod),
      index: Number(detail["index"]),
      leafHash: String(detail["leaf_sha256"]),
      origin: String(detail["origin"]),
      t: String(detail["requested_at"]),
      tLog: String(detail["logged_at"]),
    });
  }

  #applyOperation(event: AuditEvent, index: number, leafHash: string): void {
    const { op, type, prod, t, t_log: tLog } = event;
    if (event.phase === "requested")
      this.#opens(op, {
        type,
        prod,
        family: this.#family(prod),
        index,
        leafHash,
        t,
        tLog,
        origin: null,
      });
    else if (event.phase !== "fact" && event.phase !== "observed" && this.#closes(op)) {
      this.#closed.add(op);
      if (this.#closed.size < CLOSED_REMEMBERED) return;
      // Both at once: the first of a set is found the more slowly, the more were removed before it.
      this.#closedBefore = this.#closed;
      this.#closed = new Set();
    }
  }

  #opens(op: string, opened: Opened): void {
    this.#open.set(op, opened);
    this.#openOf.set(opened.family, (this.#openOf.get(opened.family) ?? 0) + 1);
  }

  /** False for one that is not open. */
  #closes(op: string): boolean {
    const opened = this.#open.get(op);
    if (opened === undefined) return false;
    this.#open.delete(op);
    this.#openOf.set(opened.family, this.#openOf.get(opened.family)! - 1);
    return true;
  }

  #family(prod: string): string {
    return this.#families.get(prod) ?? prod;
  }
}
