/**
 * What auditd knows of the log besides its tree: where each producer stands, which operations are open, the highest generation.
 * Pure: admission is judged here and nothing is remembered until {@link Ledger.apply} is told of the leaf, so that replaying the
 * leaves of a log gives the same ledger as having written them.
 */
import { type CatalogueEntry, EVENT_CATALOGUE, type EventType } from "@resontech/contracts/audit-catalogue";
import type { AuditEvent } from "@resontech/contracts/audit-draft";
import type { OpenOperation } from "../wire/frames.ts";
import { instantOf, msOf } from "../event/instant.ts";
import type { Refusal } from "./event-rules.ts";
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

/** The shard before this one, and what of it was lost where it was put back to an older state. */
export type Follows = { origin: string; lostFrom: number; lostTo: number };

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
    for (const producer of snapshot.producers) this.#sequences.set(producer.name, new Sequence(producer));
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
      return { reason: "operations_open", message: `${MAX_OPEN} operations of this family are open` };
    if (event.phase === "requested")
      return opened === undefined && !this.#closed.has(event.op) && !this.#closedBefore.has(event.op)
        ? null
        : { reason: "operation_exists", message: "an operation is requested once" };
    if (opened === undefined) return { reason: "operation_unknown", message: "no such operation is open" };
    if (opened.type !== event.type) return { reason: "operation_type", message: `the operation is a ${opened.type}` };
    if (opened.family !== this.#family(prod))
      return { reason: "operation_family", message: "the operation belongs to another family of producers" };
    return null;
  }

  openOperations(prod: string, nowMs: number): OpenOperation[] {
    const family = this.#family(prod);
    return [...this.#open]
      .filter(([, opened]) => opened.family === family)
      .map(([op, { type, prod, index, leafHash, t, tLog }]) => {
        const { maxOpenMs }: CatalogueEntry = EVENT_CATALOGUE[type];
        return { op, type, prod, index, leafHash, t, overdue: nowMs - Date.parse(tLog) > maxOpenMs };
      });
  }

  /** Whether this loss is in the log already. */
  knowsLoss(prod: string, index: number, leafHash: string): boolean {
    return this.#losses.has(`${prod} ${index} ${leafHash}`);
  }

  /** Takes note of a leaf, in the order of the log. */
  apply(event: AuditEvent, index: number, leafHash: string): void {
    this.#tLogMs = msOf(event.t_log) ?? Number.NaN;
    const detail = event.detail ?? {};
    if (event.prod === AUDITD && event.type === "audit.producer.start") this.#startBoot(event.object.id, detail);
    if (event.prod === AUDITD && event.type === "audit.rejected" && detail["taken"] === true)
      this.#sequences.get(event.object.id)?.advance(Number(detail["pseq"]), index);
    if (event.prod === AUDITD && event.type === "audit.lost") {
      this.#losses.add(`${event.object.id} ${Number(detail["index"])} ${String(detail["leaf_sha256"])}`);
      this.#sequences.get(event.object.id)?.allowGap();
    }
    const isCoordinators = event.type === "admin.coordinator.start" && this.#family(event.prod) === COORDINATOR;
    if (isCoordinators || event.type === "audit.shard.open")
      this.#highestGeneration = Math.max(this.#highestGeneration, Number(detail["generation"]));
    if (event.type === "audit.shard.open" && typeof detail["prev_origin"] === "string")
      this.#follows = {
        origin: detail["prev_origin"],
        lostFrom: Number(detail["prev_size"]),
        lostTo: Number(detail["seen_size"]),
      };
    if (event.type === "audit.shard.next")
      this.#nextShard = { origin: String(detail["origin"]), keys: detail["keys"] as string[] };
    if (event.type === "audit.shard.close") this.#isClosed = true;
    if (event.type === "audit.witness.lag") this.#lacksWitness = detail["over"] !== true;
    if (event.type === "audit.op.carried") this.#carry(event.op, detail);
    this.#sequences.get(event.prod)?.advance(event.pseq, index);
    this.#applyOperation(event, index, leafHash);
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
      this.#opens(op, { type, prod, family: this.#family(prod), index, leafHash, t, tLog, origin: null });
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
