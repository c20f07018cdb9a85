import {
  AuditRejected,
  type AuditRecordProducer,
  AuditUnavailable,
  type LeafRef,
} from "@resontech/audit/producer";
import type { Disclosure } from "@resontech/contracts/audit-event";
import type { GroupCommit } from "../db/group-commit.ts";
import type { Meta } from "../db/meta.ts";
import type { WriteHandle } from "../db/open-database.ts";

/** Rows under way at once; auditd takes them as one batch. */
const WINDOW = 1_000;
/** Beyond either, nothing new starts until the backlog is gone: AUDIT "hand-over". */
const DRAIN_ROWS = 10_000;
const DRAIN_AGE_MS = 60_000;

type OutboxRow = { pseq: number; event: string; disclosures: string };

export type RecordPumpParts = {
  db: WriteHandle;
  commit: GroupCommit;
  meta: Meta;
  now: () => number;
  /** auditd refused a row and logged that in its place. */
  onRejected: (error: AuditRejected, pseq: number) => void;
  /** The log has no place for a row: nothing is sent any more until the process starts again. Once. */
  onHalted: (error: unknown, pseq: number) => void;
  onError: (error: unknown) => void;
};

/**
 * Sends `audit_outbox` to auditd in the order of `pseq`. A row is forgotten once it stands in the log, or a refusal in its place; one that
 * fails in any other way is kept with all that follow it, and the pump halts: a record that is missing must not go unseen.
 */
export class RecordPump {
  readonly #parts: RecordPumpParts;
  readonly #next;
  readonly #backlog;
  #producer: AuditRecordProducer | null = null;
  #isHalted = false;
  #sent = 0;
  #underWay = 0;
  #settled: number[] = [];

  constructor(parts: RecordPumpParts) {
    this.#parts = parts;
    this.#next = parts.db.prepare<[number, number], OutboxRow>(
      "SELECT pseq, event, disclosures FROM audit_outbox WHERE pseq > ? ORDER BY pseq LIMIT ?",
    );
    // pseq has no gaps, so its span is the number of rows.
    this.#backlog = parts.db.prepare<[], { rows: number; oldest: number }>(
      `SELECT (SELECT max(pseq) FROM audit_outbox) - pseq + 1 AS rows, created_at AS oldest
       FROM audit_outbox ORDER BY pseq LIMIT 1`,
    );
  }

  /** From here on rows flow. */
  attach(producer: AuditRecordProducer): void {
    this.#producer = producer;
    this.kick();
  }

  /** Sends what is there, up to the window. */
  kick(): void {
    const producer = this.#producer;
    if (producer === null || this.#isHalted || this.#underWay >= WINDOW) return;
    for (const row of this.#next.all(this.#sent, WINDOW - this.#underWay)) {
      this.#sent = row.pseq;
      this.#underWay += 1;
      this.#send(producer, row).then(
        () => this.#settle(row.pseq),
        (error: unknown) => this.#refused(row.pseq, error),
      );
    }
  }

  /** A row was refused for good and stands in nobody's log. */
  get isHalted(): boolean {
    return this.#isHalted;
  }

  /** Records are not taken, or too slowly: running jobs may end, new ones must wait. */
  isDraining(): boolean {
    if (this.#isHalted) return true;
    const backlog = this.#backlog.get();
    return (
      backlog !== undefined &&
      (backlog.rows > DRAIN_ROWS || this.#parts.now() - backlog.oldest > DRAIN_AGE_MS)
    );
  }

  /** Rows that auditd has not acknowledged, and how long the oldest has waited. */
  backlog(): { waiting: number; oldestWaitMs: number } {
    const backlog = this.#backlog.get();
    if (backlog === undefined) return { waiting: 0, oldestWaitMs: 0 };
    return { waiting: backlog.rows, oldestWaitMs: Math.max(0, this.#parts.now() - backlog.oldest) };
  }

  /** Resolves when every row there is now was acknowledged, or none can be. */
  async drained(signal: AbortSignal): Promise<void> {
    while (this.#backlog.get() !== undefined && !this.#isHalted && !signal.aborted)
      await new Promise((resolve) => setTimeout(resolve, 10));
  }

  #settle(pseq: number): void {
    this.#underWay -= 1;
    this.#settled.push(pseq);
    if (this.#settled.length > 1) return;
    // One commit takes what was acknowledged until it runs.
    this.#parts.commit
      .run((db) => {
        const settled = this.#settled;
        this.#settled = [];
        const forget = db.prepare("DELETE FROM audit_outbox WHERE pseq = ?");
        for (const each of settled) forget.run(each);
        const highestAck = this.#producer?.highestAck;
        if (highestAck !== undefined)
          this.#parts.meta.set("record-ack", JSON.stringify(highestAck));
      })
      .then(() => this.kick(), this.#parts.onError);
  }

  async #send(
    producer: AuditRecordProducer,
    { pseq, event, disclosures }: OutboxRow,
  ): Promise<LeafRef> {
    return await producer.append({
      pseq,
      event,
      disclosures: JSON.parse(disclosures) as Disclosure[],
    });
  }

  #refused(pseq: number, error: unknown): void {
    if (error instanceof AuditRejected && error.settled) {
      this.#parts.onRejected(error, pseq);
      this.#settle(pseq);
      return;
    }
    this.#underWay -= 1;
    // The producer was closed: the row is sent again by the next life of this process.
    if (error instanceof AuditUnavailable || this.#isHalted) return;
    this.#isHalted = true;
    this.#parts.onHalted(error, pseq);
  }
}
