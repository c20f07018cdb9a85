/**
 * What the vault says in the log, written in the same transaction as what it tells of, and kept byte for byte: sent again after a kill, it gets the
 * same place. `boot` is the life of the database, not of the process.
 */
import { randomUUID } from "node:crypto";
import type Database from "better-sqlite3";
import type { EventDraft } from "@resontech/contracts/audit-draft";
import {
  type ComposedEvent,
  composeEvent,
  type LeafRef,
  type LogPlace,
  type SaidOfOperation,
} from "@resontech/audit/producer";
import { isSaidAgain } from "../decisions/ended.ts";

/** Where a leaf stands: entry `index` of the shard `origin`. */
export type Place = LeafRef & { origin: string };
/** A row as it is sent. */
export type OutboxRow = ComposedEvent & { op: string; phase: EventDraft["phase"] };
/** In place of an index. */
const REFUSED = -1;
/** Legal holds may have been set that this database does not have. */
const HOLDS_IN_DOUBT = "holds-in-doubt";
/** A life has begun, and what the log has of the one before is not settled yet. */
const UNSETTLED = "unsettled";
type Stamp = "v" | "id" | "t" | "boot" | "pseq" | "schema_sha256";

export class Outbox {
  readonly #db: Database.Database;
  #onWritten = (): void => {};

  /** @param hasKeys there are keys already: a database that is new beside them stands for one that was lost */
  constructor(db: Database.Database, hasKeys: boolean) {
    this.#db = db;
    if (this.boot === "")
      db.transaction(() => {
        this.#setMeta("boot", randomUUID());
        if (hasKeys) this.#setMeta(HOLDS_IN_DOUBT, "yes");
      }).immediate();
  }

  get boot(): string {
    return this.#meta("boot") ?? "";
  }

  get holdsInDoubt(): boolean {
    return this.said(HOLDS_IN_DOUBT) !== "";
  }

  /** People vouch for the holds, on record. */
  sayHoldsConfirmed(draft: EventDraft): void {
    this.say(draft, HOLDS_IN_DOUBT, "");
  }

  /** Of the last row that was written. */
  get lastPseq(): number {
    return Number(this.#meta("pseq") ?? 0);
  }

  /** Part of a transaction. */
  write(draft: EventDraft): void {
    const pseq = this.lastPseq + 1;
    this.#setMeta("pseq", String(pseq));
    const { event } = composeEvent(draft, { boot: this.boot, pseq });
    this.#db
      .prepare("INSERT INTO outbox (pseq, op, phase, event) VALUES (?, ?, ?, ?)")
      .run(pseq, draft.op, draft.phase, event);
    this.#onWritten();
  }

  /** @param bring called within the transaction: it must look for the row after it */
  whenWritten(bring: () => void): void {
    this.#onWritten = bring;
  }

  /** From the first unanswered one on, without gaps: what was answered after it is sent again, and gets the same answer. */
  unanswered(after: number): OutboxRow[] {
    return this.#db
      .prepare<unknown[], Omit<OutboxRow, "disclosures">>(
        "SELECT pseq, op, phase, event FROM outbox WHERE pseq > ? AND pseq >= (SELECT min(pseq) FROM outbox WHERE idx IS NULL) ORDER BY pseq",
      )
      .all(after)
      .map((row) => ({ ...row, disclosures: [] }));
  }

  answered(pseq: number, { origin, index, leafHash }: Place): void {
    this.#db
      .prepare("UPDATE outbox SET origin = ?, idx = ?, leaf_hash = ? WHERE pseq = ?")
      .run(origin, index, leafHash, pseq);
  }

  /** The log holds a refusal in its place. */
  refused(pseq: number): void {
    this.#db.prepare("UPDATE outbox SET idx = ? WHERE pseq = ?").run(REFUSED, pseq);
  }

  isRefused(op: string, phase: EventDraft["phase"]): boolean {
    return (
      this.#db
        .prepare<unknown[], number>("SELECT 1 FROM outbox WHERE op = ? AND phase = ? AND idx = ?")
        .pluck()
        .get(op, phase, REFUSED) === 1
    );
  }

  /** Whether anything was ever said of this operation, in this life or one before. */
  tellsOf(op: string): boolean {
    return (
      this.#db
        .prepare<unknown[], number>("SELECT 1 FROM outbox WHERE op = ? LIMIT 1")
        .pluck()
        .get(op) === 1
    );
  }

  /** Null until the log is known to have it. */
  placeOf(op: string, phase: EventDraft["phase"]): Place | null {
    return (
      this.#db
        .prepare<unknown[], Place>(
          'SELECT origin, idx AS "index", leaf_hash AS leafHash FROM outbox WHERE op = ? AND phase = ? AND idx >= 0',
        )
        .get(op, phase) ?? null
    );
  }

  /** What was acknowledged last, for auditd to compare with the log. */
  get highestAck(): LeafRef | undefined {
    return this.#db
      .prepare<[], LeafRef>(
        'SELECT idx AS "index", leaf_hash AS leafHash FROM outbox WHERE idx >= 0 ORDER BY pseq DESC LIMIT 1',
      )
      .get();
  }

  /**
   * The database was put back to an older state: its numbers are taken. Its holds are in doubt, and nothing is said in the new life before it is
   * {@link settle}d what of it the log has.
   */
  beginLife(): void {
    this.#db
      .transaction(() => {
        // Those that are answered keep their numbers: a new life's begin above them, and are told to auditd as its first.
        this.#setMeta("boot", randomUUID());
        this.#setMeta("first-pseq", String(this.lastPseq + 1));
        this.#setMeta(HOLDS_IN_DOUBT, "yes");
        this.#setMeta(UNSETTLED, "yes");
      })
      .immediate();
  }

  get isUnsettled(): boolean {
    return this.said(UNSETTLED) !== "";
  }

  /** What is not known to be in the log, in order. */
  get unsent(): Pick<OutboxRow, "op" | "phase">[] {
    return this.#db
      .prepare<[], Pick<OutboxRow, "op" | "phase">>(
        "SELECT op, phase FROM outbox WHERE idx IS NULL ORDER BY pseq",
      )
      .all();
  }

  /** What of the log this database does not know lies behind it. */
  get knownUpTo(): LogPlace | undefined {
    return this.#db
      .prepare<[], LogPlace>(
        `SELECT origin, idx AS "index" FROM outbox
         WHERE idx >= 0 AND pseq > 0 AND pseq < coalesce((SELECT min(pseq) FROM outbox WHERE idx IS NULL), pseq + 1) ORDER BY pseq DESC LIMIT 1`,
      )
      .get();
  }

  /**
   * Numbers anew what is still to be said; the log has nothing of this life. Part of a transaction.
   * @param said what the log says of operations
   * @param open those without an outcome in the log
   */
  settle(said: ReadonlyMap<string, readonly SaidOfOperation[]>, open: ReadonlySet<string>): void {
    const rows = this.#db
      .prepare<[], Omit<OutboxRow, "disclosures">>(
        "SELECT pseq, op, phase, event FROM outbox WHERE idx IS NULL ORDER BY pseq",
      )
      .all();
    this.#db.prepare("DELETE FROM outbox WHERE idx IS NULL").run();
    this.#setMeta("pseq", String(this.firstPseq - 1));
    const asked = new Set(open);
    for (const { op, phase, event } of rows) {
      if (!isSaidAgain(phase, said.get(op) ?? [], asked.has(op))) continue;
      if (phase === "requested") asked.add(op);
      const {
        v: _v,
        id: _id,
        t: _t,
        boot: _boot,
        pseq: _pseq,
        schema_sha256: _schema,
        ...draft
      } = JSON.parse(event) as EventDraft & { [stamp in Stamp]: string };
      this.write(draft);
    }
    this.#setMeta(UNSETTLED, "");
  }

  /** Takes note of what the log has, before all rows of this life: an earlier one said it, in words that are in the log alone. */
  noteSaid({ op, phase, origin, index, leafHash }: SaidOfOperation): void {
    if (this.placeOf(op, phase) !== null) return;
    this.#db
      .prepare(
        `INSERT INTO outbox (pseq, op, phase, event, origin, idx, leaf_hash)
         SELECT min(0, coalesce(min(pseq), 0)) - 1, ?, ?, '', ?, ?, ? FROM outbox`,
      )
      .run(op, phase, origin, index, leafHash);
  }

  /** Says it, and remembers under a name that it was said, in one transaction. */
  say(draft: EventDraft, name: string, value: string): void {
    this.#db
      .transaction(() => {
        this.write(draft);
        this.#setMeta(name, value);
      })
      .immediate();
  }

  said(name: string): string {
    return this.#meta(name) ?? "";
  }

  get firstPseq(): number {
    return Number(this.#meta("first-pseq") ?? 1);
  }

  #meta(name: string): string | undefined {
    return this.#db
      .prepare<unknown[], string>("SELECT value FROM meta WHERE name = ?")
      .pluck()
      .get(name);
  }

  #setMeta(name: string, value: string): void {
    this.#db
      .prepare(
        "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
      )
      .run(name, value);
  }
}
