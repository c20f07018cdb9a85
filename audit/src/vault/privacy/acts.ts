/**
 * What the vault does on record, each a row whose state only goes forward; what is said of it in the log is written in the same transaction.
 *
 * (none) ── asked ──► the log has the request ──► requested ── done to the files ──► destroyed ── outcome said ──► completed ── nothing found ──► done
 *             └─ the log did not take it in time, or the vault was killed before: failed
 */
import type Database from "better-sqlite3";
import type { EventDraft } from "@resontech/contracts/audit-draft";
import type { Outbox } from "../record/outbox.ts";

export type ActKind = "erasure" | "retention" | "hold" | "disclose" | "refusal";
export type ActState = "asked" | "requested" | "destroyed" | "completed" | "done" | "failed";
export type Act = {
  op: string;
  kind: ActKind;
  /** Null where it is about nobody in particular. */
  subject: string | null;
  state: ActState;
  request: Record<string, unknown>;
  result: Record<string, unknown> | null;
  beganAt: number;
};
type Row = Omit<Act, "request" | "result"> & { request: string; result: string | null };

const COLUMNS = "op, kind, subject, state, request, result, began_at AS beganAt";

export class Acts {
  readonly #db: Database.Database;
  readonly #outbox: Outbox;

  constructor(db: Database.Database, outbox: Outbox) {
    this.#db = db;
    this.#outbox = outbox;
  }

  begin(act: Pick<Act, "op" | "kind" | "subject" | "request">, say: EventDraft): void {
    this.transaction(() => {
      this.#db
        .prepare("INSERT INTO acts (op, kind, subject, state, request, began_at) VALUES (?, ?, ?, 'asked', ?, ?)")
        .run(act.op, act.kind, act.subject, JSON.stringify(act.request), Date.now());
      this.#outbox.write(say);
    });
  }

  /** Takes an act on. `also` is done in the same transaction. */
  advance(
    op: string,
    state: ActState,
    { say, result, also }: { say?: EventDraft; result?: object; also?: () => object | void } = {},
  ): void {
    this.transaction(() => {
      const found = also?.() ?? result;
      this.#db
        .prepare("UPDATE acts SET state = ?, result = coalesce(?, result) WHERE op = ?")
        .run(state, found === undefined ? null : JSON.stringify(found), op);
      if (say !== undefined) this.#outbox.write(say);
    });
  }

  get(op: string): Act {
    const row = this.#db.prepare<unknown[], Row>(`SELECT ${COLUMNS} FROM acts WHERE op = ?`).get(op);
    if (row === undefined) throw new RangeError(`there is no act ${op}`);
    return parsed(row);
  }

  /** Oldest first. */
  all(kind: ActKind): Act[] {
    return this.#db
      .prepare<unknown[], Row>(`SELECT ${COLUMNS} FROM acts WHERE kind = ? ORDER BY began_at, op`)
      .all(kind)
      .map(parsed);
  }

  /** Not at their end, oldest first. */
  underWay(): Act[] {
    return this.#db
      .prepare<[], Row>(`SELECT ${COLUMNS} FROM acts WHERE state NOT IN ('done', 'failed') ORDER BY began_at, op`)
      .all()
      .map(parsed);
  }

  /** Times that values of a subject were, or may have been, disclosed. */
  disclosuresOf(subject: string): number {
    return (
      this.#db
        .prepare<unknown[], number>("SELECT count(*) FROM acts WHERE subject = ? AND kind = 'disclose' AND result IS NOT NULL")
        .pluck()
        .get(subject) ?? 0
    );
  }

  /** The open disclosures of a subject's values have begun to be handed out. */
  noteDisclosed(origin: string, subject: string): void {
    this.#db
      .prepare("UPDATE acts SET result = ? WHERE subject = ? AND kind = 'disclose' AND state = 'requested' AND result IS NULL")
      .run(JSON.stringify({ origin }), subject);
  }

  holdsOf(subject: string): string[] {
    return this.#db.prepare<unknown[], string>("SELECT hold FROM holds WHERE subject = ? ORDER BY hold").pluck().all(subject);
  }

  get holdCount(): number {
    return this.#db.prepare<[], number>("SELECT count(*) FROM holds").pluck().get() ?? 0;
  }

  get heldSubjects(): Set<string> {
    return new Set(this.#db.prepare<[], string>("SELECT DISTINCT subject FROM holds").pluck().all());
  }

  /** Part of a transaction. */
  setHold(op: string, hold: string, subject: string): void {
    this.#db.prepare("INSERT INTO holds (hold, subject, set_by) VALUES (?, ?, ?)").run(hold, subject, op);
  }

  /** Part of a transaction. */
  liftHold(hold: string): void {
    this.#db.prepare("DELETE FROM holds WHERE hold = ?").run(hold);
  }

  subjectOfHold(hold: string): string | null {
    return this.#db.prepare<unknown[], string>("SELECT subject FROM holds WHERE hold = ?").pluck().get(hold) ?? null;
  }

  transaction(work: () => void): void {
    this.#db.transaction(work).immediate();
  }
}

function parsed({ request, result, ...row }: Row): Act {
  return {
    ...row,
    request: JSON.parse(request) as Record<string, unknown>,
    result: result === null ? null : (JSON.parse(result) as Record<string, unknown>),
  };
}
