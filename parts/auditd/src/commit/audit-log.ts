/**
 * The one writer of the log. An event is judged, gets its index and its place in the ledger, and waits for its batch; a commit starts
 * as soon as none runs, and what arrives meanwhile is the next batch.
 *
 * Invariants: nothing is acknowledged before it is durable; indices are given in the order of admission and never reused; after
 * the first failed write, sync or comparison nothing more is acknowledged (`onFatal`), because only a start from the files can
 * tell what is durable.
 */
import { createHash } from "node:crypto";
import type { EventType } from "@resontech/contracts/audit-catalogue";
import type { AuditEvent, EventDraft } from "@resontech/contracts/audit-draft";
import type { Disclosure } from "@resontech/contracts/audit-event";
import { commitmentsOf, type Refusal } from "@resontech/audit/format/event/event-rules";
import { subjectOf } from "@resontech/audit/format/event/subject";
import { AUDITD, type Ledger } from "../decisions/ledger.ts";
import { type Claim, evaluateContent, readBytes } from "../decisions/read-event.ts";
import type { OwnDraft } from "../decisions/restate.ts";
import { composeEvent } from "@resontech/audit/format/event/compose-event";
import { leafOf, sentText } from "@resontech/audit/format/event/leaf";
import { LeafReader } from "@resontech/audit/format/tree/leaf-reader";
import type { LogReader } from "@resontech/audit/format/tree/log-reader";
import { hashLeaf } from "@resontech/audit/format/tree/merkle";
import type { Wal } from "../wal/wal.ts";
import type { LeafRef } from "@resontech/audit/format/wire/frames";
import type { DurableLeaf } from "../checkpoint/checkpointer.ts";
import { RepeatSearch, type SearchedShard } from "./repeat-search.ts";
import type { Sidecar, SidecarLine } from "./sidecar.ts";

const MAX_BATCH_BYTES = 1_048_576;
const MAX_REFUSALS_REMEMBERED = 1_024;
/** What auditd says of itself and its producers; no producer may say it. */
const RESERVED_TYPES: ReadonlySet<EventType> = new Set<EventType>([
  "audit.producer.start",
  "audit.wal.cut",
  "audit.rejected",
  "audit.lost",
  "audit.disk",
  "audit.heartbeat",
  "audit.stop",
  "audit.clock.vouched",
  "audit.shard.open",
  "audit.shard.next",
  "audit.shard.close",
  "audit.shard.delete",
  "audit.op.carried",
  "audit.policy",
  "audit.witness.lag",
]);

/** How a submission ends; exactly one is called, once. */
export type Answer = {
  durable: (pseq: number, ref: LeafRef) => void;
  /** `final`: the sequence did not move; the connection is of no more use. `pseq` is null when it can't be read. */
  refused: (pseq: number | null, refusal: Refusal, final: boolean) => void;
  /** Nobody hears it any more. */
  isOver?: () => boolean;
};

type Entry = DurableLeaf & {
  /** Its place and hash, as they are told. */
  ref: LeafRef;
  disclosures: SidecarLine[];
  whenDurable: (() => void)[];
};

type Parts = {
  boot: string;
  /** Leaves that the log's files hold; those of `replayed` follow and are durable already. */
  checkpointSize: number;
  replayed: readonly Buffer[];
  ledger: Ledger;
  wal: Wal;
  sidecar: Sidecar;
  reader: LogReader;
  /** The shard before this one: what was acknowledged there is not taken twice. */
  previous: SearchedShard | null;
  /**
   * So many durable leaves may wait for a checkpoint, in memory. A disk that takes small writes more quickly than it makes files holds up
   * the acknowledgements then, and so the producers.
   */
  maxUncovered: number;
  /** No checkpoint is made for now: nothing waits for one. */
  isHeld: () => boolean;
  onDurable: () => void;
  onFatal: (error: unknown) => void;
};

export class AuditLog {
  readonly #parts: Parts;
  readonly #reader: LeafReader;
  readonly #repeats: RepeatSearch;
  readonly #refusedDigests = new Set<string>();
  /** Every leaf that no durable checkpoint covers, by index from `#tailStart`. */
  #tail: Entry[] = [];
  #tailStart: number;
  #durableSize: number;
  #committing: Promise<void> | null = null;
  #isEnded = false;
  #pseq = 0;
  #batches = 0;
  /** Told when a checkpoint has covered more. */
  #onCovered: (() => void) | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#reader = new LeafReader(parts.reader);
    this.#repeats = new RepeatSearch(parts.previous === null ? [this] : [this, parts.previous]);
    this.#tailStart = parts.checkpointSize;
    this.#tail = parts.replayed.map((leaf, at) => entryOf(parts.checkpointSize + at, leaf));
    this.#durableSize = parts.checkpointSize + parts.replayed.length;
  }

  get ledger(): Ledger {
    return this.#parts.ledger;
  }

  /** One past the last leaf that was given an index. */
  get nextIndex(): number {
    return this.#tailStart + this.#tail.length;
  }

  get durableSize(): number {
    return this.#durableSize;
  }

  get batches(): number {
    return this.#batches;
  }

  /** Durable leaves from `index` on, for the next checkpoint. */
  durableFrom(index: number): DurableLeaf[] {
    return this.#tail.slice(index - this.#tailStart, this.#durableSize - this.#tailStart);
  }

  /** Forgets leaves that a durable checkpoint covers. */
  covered(size: number): void {
    this.#tail.splice(0, size - this.#tailStart);
    this.#tailStart = size;
    this.#onCovered?.();
  }

  /** Judges what a producer sent in its life `boot`, and answers once that is durable. */
  submit(
    prod: string,
    boot: string,
    eventBytes: Buffer,
    disclosureBytes: Buffer,
    answer: Answer,
  ): void {
    if (this.#isEnded) return;
    const outcome = readBytes(eventBytes);
    const { claim } = outcome;
    const sequence = this.ledger.sequence(prod);
    const place =
      claim.boot === boot && claim.pseq !== null ? sequence?.place(claim.pseq) : undefined;
    if (claim.pseq === null || place === undefined) {
      const reason =
        "refusal" in outcome
          ? outcome.refusal
          : { reason: "boot", message: "not the life of this connection" };
      return this.#refuse(prod, claim, eventBytes, reason, false, answer);
    }
    if (place === "gap")
      return this.#refuse(
        prod,
        claim,
        eventBytes,
        { reason: "pseq_gap", message: "events are missing before this one" },
        false,
        answer,
      );
    if (place === "repeat") {
      this.#answerRepeat(prod, boot, claim.pseq, claim, eventBytes, answer).catch(
        this.#parts.onFatal,
      );
      return;
    }
    if ("refusal" in outcome)
      return this.#refuse(prod, claim, eventBytes, outcome.refusal, true, answer);
    const judged = evaluateContent(outcome.read, disclosureBytes);
    if ("refusal" in judged)
      return this.#refuse(prod, claim, eventBytes, judged.refusal, true, answer);
    const violation =
      reservedViolation(judged.event.type) ?? this.ledger.operationViolation(prod, judged.event);
    if (violation !== null) return this.#refuse(prod, claim, eventBytes, violation, true, answer);
    const { pseq } = judged.event;
    const entry = this.#take(prod, judged.event, eventBytes, judged.disclosures);
    entry.whenDurable.push(() => answer.durable(pseq, entry.ref));
  }

  /** Writes an event of auditd's own, its actor auditd unless said; resolves once durable. After {@link end} it is not heard, like any other. */
  record<T extends EventType>(draft: OwnDraft<T>): Promise<LeafRef> {
    if (this.#isEnded) return new Promise(() => {});
    this.#pseq += 1;
    const composed = composeEvent(
      { op: crypto.randomUUID(), phase: "fact", actor: { sub: AUDITD, kind: "system" }, ...draft },
      { boot: this.#parts.boot, pseq: this.#pseq },
    );
    const event = JSON.parse(composed.event) as EventDraft & {
      t: string;
      boot: string;
      pseq: number;
    };
    const entry = this.#take(AUDITD, event, Buffer.from(composed.event, "utf8"), []);
    return new Promise((resolve) => entry.whenDurable.push(() => resolve(entry.ref)));
  }

  /** The last leaf; what is submitted after it is not heard. Durable after {@link flush}. */
  end<T extends EventType>(draft: OwnDraft<T>): void {
    this.record(draft).catch(this.#parts.onFatal);
    this.#isEnded = true;
  }

  /** The leaf at `index`, which must be below {@link nextIndex}. */
  async readLeaf(index: number): Promise<DurableLeaf> {
    if (index >= this.#tailStart) return this.#tail[index - this.#tailStart]!;
    const leaf = await this.#reader.read(index, this.#tailStart);
    return { leaf, leafHash: hashLeaf(leaf) };
  }

  /** Waits until the leaf at `index`, which was taken, is durable. */
  async durable(index: number): Promise<void> {
    if (index < this.#durableSize) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#tail[index - this.#tailStart]!.whenDurable.push(resolve);
    await promise;
  }

  /** Waits until everything taken is durable. */
  async flush(): Promise<void> {
    while (this.#committing !== null) await this.#committing;
  }

  /** @param sent the event as its producer wrote it */
  #take(
    prod: string,
    event: EventDraft & { t: string },
    sent: Buffer,
    disclosures: readonly Disclosure[],
  ): Entry {
    const { ledger } = this.#parts;
    const tLog = ledger.nextLogTime(Date.now());
    const leaf = leafOf(sent, prod, tLog);
    const complete = Object.assign(event, { prod, t_log: tLog }) as unknown as AuditEvent;
    const entry = entryOf(
      this.nextIndex,
      leaf,
      disclosures.length === 0 ? [] : sidecarLines(complete, disclosures),
    );
    ledger.apply(complete, entry.ref.index, entry.ref.leafHash);
    this.#tail.push(entry);
    this.#committing ??= this.#commitAll();
    return entry;
  }

  async #commitAll(): Promise<void> {
    try {
      // Let everything that this turn of the event loop brings be in the first batch.
      await Promise.resolve();
      while (this.#durableSize < this.nextIndex) {
        // Of what an earlier life left uncovered, only a batch of this one lets a checkpoint be made.
        const isMany = this.#durableSize - this.#tailStart >= this.#parts.maxUncovered;
        const isBehind = isMany && this.#batches > 0 && !this.#parts.isHeld();
        await (isBehind ? this.#nextCovered() : this.#commit(this.#nextBatch()));
      }
      this.#committing = null;
    } catch (error) {
      this.#parts.onFatal(error);
    }
  }

  async #nextCovered(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onCovered = resolve;
    await promise;
    this.#onCovered = null;
  }

  #nextBatch(): Entry[] {
    const batch: Entry[] = [];
    let bytes = 0;
    for (let at = this.#durableSize - this.#tailStart; at < this.#tail.length; at++) {
      const entry = this.#tail[at]!;
      bytes += entry.leaf.length + 2;
      if (batch.length > 0 && bytes > MAX_BATCH_BYTES) break;
      batch.push(entry);
    }
    return batch;
  }

  async #commit(batch: Entry[]): Promise<void> {
    const { sidecar, wal, onDurable } = this.#parts;
    const disclosing = batch.filter(({ disclosures }) => disclosures.length > 0);
    if (disclosing.length > 0)
      await sidecar.append(
        disclosing.map(({ ref, disclosures }) => ({ index: ref.index, disclosures })),
      );
    await wal.append(
      batch[0]!.ref.index,
      batch.map(({ leaf }) => leaf),
    );
    this.#batches += 1;
    this.#durableSize += batch.length;
    for (const { whenDurable } of batch) for (const settle of whenDurable) settle();
    onDurable();
  }

  /** The same bytes again get the same index; other bytes under a used number are refused. */
  async #answerRepeat(
    prod: string,
    boot: string,
    pseq: number,
    claim: Claim,
    bytes: Buffer,
    answer: Answer,
  ): Promise<void> {
    const found = await this.#repeats.find({ prod, boot, pseq }, () => answer.isOver?.() === true);
    if (found === undefined) return;
    if (found === null) {
      this.#refuse(
        prod,
        claim,
        bytes,
        { reason: "pseq_used", message: "this number was passed over" },
        false,
        answer,
      );
      return;
    }
    const { index, leaf, leafHash, event, shard } = found;
    const settle = (): void => {
      if (event.prod === prod && sentText(leaf) === bytes.toString("utf8"))
        answer.durable(pseq, { index, leafHash: leafHash.toString("hex") });
      else if (event.prod === AUDITD && event.detail?.["sha256"] === sha256(bytes))
        answer.refused(
          pseq,
          { reason: String(event.detail["reason"]), message: "refused before" },
          false,
        );
      else
        this.#refuse(
          prod,
          claim,
          bytes,
          { reason: "pseq_used", message: "this number has other bytes" },
          false,
          answer,
        );
    };
    // What the shard before this one holds is durable.
    if (shard !== this || index < this.#durableSize) settle();
    else this.#tail[index - this.#tailStart]!.whenDurable.push(settle);
  }

  #refuse(
    prod: string,
    claim: Claim,
    bytes: Buffer,
    refusal: Refusal,
    taken: boolean,
    answer: Answer,
  ): void {
    if (this.#isEnded) return;
    const digest = sha256(bytes);
    const refused = (): void => answer.refused(claim.pseq, refusal, !taken);
    if (!taken && this.#refusedDigests.has(`${prod} ${digest}`)) return refused();
    this.#refusedDigests.add(`${prod} ${digest}`);
    if (this.#refusedDigests.size > MAX_REFUSALS_REMEMBERED)
      this.#refusedDigests.delete(this.#refusedDigests.values().next().value ?? "");
    this.record({
      type: "audit.rejected",
      object: { kind: "producer", id: prod },
      detail: { ...claim, sha256: digest, bytes: bytes.length, reason: refusal.reason, taken },
    }).then(refused, this.#parts.onFatal);
  }
}

function reservedViolation(type: EventType): Refusal | null {
  return RESERVED_TYPES.has(type)
    ? { reason: "reserved_type", message: `${type} is auditd's own` }
    : null;
}

function sidecarLines(event: AuditEvent, disclosures: readonly Disclosure[]): SidecarLine[] {
  const commitments = commitmentsOf(event);
  const about = { subject: subjectOf(event), month: event.t_log.slice(0, "YYYY-MM".length) };
  return disclosures.map((disclosure) => ({
    ...disclosure,
    ...about,
    commitment: commitments.get(disclosure.field) ?? "",
  }));
}

function entryOf(index: number, leaf: Buffer, disclosures: SidecarLine[] = []): Entry {
  const leafHash = hashLeaf(leaf);
  return {
    ref: { index, leafHash: leafHash.toString("hex") },
    leaf,
    leafHash,
    disclosures,
    whenDurable: [],
  };
}

function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
