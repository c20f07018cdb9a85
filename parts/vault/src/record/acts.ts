/**
 * What the vault does on record, each a row whose state only goes forward; what is said of it in the log is written in the same transaction.
 *
 * (none) ── asked ──► the log has the request ──► requested ── decided ──► destroying ── done to the rows ──► destroyed ── outcome said ──► completed
 *             │                                       └─ a legal hold: failed                                       nothing found ──► done ◄──┘
 *             └─ the log did not take it in time, or the vault was killed before: failed
 */
import type Database from "better-sqlite3";
import type { EventDraft } from "@resontech/contracts/audit-draft";
import type { ActKind, ActState } from "../decisions/act-state.ts";
import type { KeyName } from "../keys/key-table.ts";
import type { Outbox } from "./outbox.ts";

export type Act = {
  op: string;
  kind: ActKind;
  /** Null where it is about nobody in particular. */
  subject: string | null;
  state: ActState;
  request: Record<string, unknown>;
  result: Record<string, unknown> | null;
  beganAt: number;
  /** Null until keys were destroyed, or were about to be. */
  destroyedAt: number | null;
};
type Row = Omit<Act, "request" | "result"> & { request: string; result: string | null };

const COLUMNS =
  "op, kind, subject, state, request, result, began_at AS beganAt, destroyed_at AS destroyedAt";

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
        .prepare(
          "INSERT INTO acts (op, kind, subject, state, request, began_at) VALUES (?, ?, ?, 'asked', ?, ?)",
        )
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

  /** What it will destroy, whatever is asked from now on. Part of a transaction. */
  doom(op: string, names: readonly KeyName[]): void {
    const insert = this.#db.prepare("INSERT INTO doomed (op, subject, month) VALUES (?, ?, ?)");
    for (const { subject, month } of names) insert.run(op, subject, month);
  }

  doomedBy(op: string): KeyName[] {
    return this.#db
      .prepare<unknown[], KeyName>(
        "SELECT subject, month FROM doomed WHERE op = ? ORDER BY month, subject",
      )
      .all(op);
  }

  isDoomed(subject: string): boolean {
    return (
      this.#db
        .prepare<unknown[], number>("SELECT 1 FROM doomed WHERE subject = ? LIMIT 1")
        .pluck()
        .get(subject) === 1
    );
  }

  /** Durable before the first key goes: a later life could not tell any more. */
  noteDestruction(op: string, atMs: number, finalAfter: string): void {
    this.#db
      .prepare(
        "UPDATE acts SET destroyed_at = ?, result = json_set(coalesce(result, '{}'), '$.final_after', ?) WHERE op = ?",
      )
      .run(atMs, finalAfter, op);
  }

  /** Nothing of it is left to destroy. Part of a transaction. */
  forgetDoomed(op: string): void {
    this.#db.prepare("DELETE FROM doomed WHERE op = ?").run(op);
    this.#db.prepare("INSERT INTO destroyed (op) VALUES (?) ON CONFLICT DO NOTHING").run(op);
  }

  get(op: string): Act {
    const row = this.#db
      .prepare<unknown[], Row>(`SELECT ${COLUMNS} FROM acts WHERE op = ?`)
      .get(op);
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
      .prepare<[], Row>(
        `SELECT ${COLUMNS} FROM acts WHERE state NOT IN ('done', 'failed') ORDER BY began_at, op`,
      )
      .all()
      .map(parsed);
  }

  /** Times that values of a subject were, or may have been, disclosed. */
  disclosuresOf(subject: string): number {
    return (
      this.#db
        .prepare<unknown[], number>(
          "SELECT count(*) FROM acts WHERE subject = ? AND kind = 'disclose' AND result IS NOT NULL",
        )
        .pluck()
        .get(subject) ?? 0
    );
  }

  /** A disclosure has begun to hand values out. */
  noteDisclosed(op: string, origin: string): void {
    this.#db.prepare("UPDATE acts SET result = ? WHERE op = ?").run(JSON.stringify({ origin }), op);
  }

  holdsOf(subject: string): string[] {
    return this.#db
      .prepare<unknown[], string>("SELECT hold FROM holds WHERE subject = ? ORDER BY hold")
      .pluck()
      .all(subject);
  }

  get holdCount(): number {
    return this.#db.prepare<[], number>("SELECT count(*) FROM holds").pluck().get() ?? 0;
  }

  get heldSubjects(): Set<string> {
    return new Set(
      this.#db.prepare<[], string>("SELECT DISTINCT subject FROM holds").pluck().all(),
    );
  }

  /** Part of a transaction. */
  setHold(op: string, hold: string, subject: string): void {
    this.#db
      .prepare("INSERT INTO holds (hold, subject, set_by) VALUES (?, ?, ?)")
      .run(hold, subject, op);
  }

  /** Part of a transaction. */
  liftHold(hold: string): void {
    this.#db.prepare("DELETE FROM holds WHERE hold = ?").run(hold);
  }

  subjectOfHold(hold: string): string | null {
    return (
      this.#db
        .prepare<unknown[], string>("SELECT subject FROM holds WHERE hold = ?")
        .pluck()
        .get(hold) ?? null
    );
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
