/** Rows of requests. */
import type { ApprovalKind, ApprovalState, Requested } from "@resontech/contracts/http-approvals";
import type { ReadHandle, WriteHandle } from "../db/open-database.ts";
import { type RowFilter, whereOf } from "../db/row-filter.ts";

/** Instants in Unix milliseconds. */
export type Approval = {
  id: string;
  what: Requested;
  requesterId: string;
  /** Null where it concerns the whole appliance. */
  projectId: string | null;
  state: ApprovalState;
  /** Of an open request: whose approval was under way, see {@link noteBegun}. */
  deciderId: string | null;
  reason: string | null;
  singlePerson: boolean;
  createdAt: number;
  expiresAt: number;
  decidedAt: number | null;
};

type Row = Omit<Approval, "what" | "singlePerson"> & { what: string; singlePerson: number };

const COLUMNS = `id, what, requester_id AS requesterId, project_id AS projectId, state, decider_id AS deciderId, reason,
  single_person AS singlePerson, created_at AS createdAt, expires_at AS expiresAt, decided_at AS decidedAt`;

/** Kinds that the release before does not know. */
const LATER: ReadonlySet<ApprovalKind> = new Set(["hold", "lift", "disclosure", "share"]);

export function findApproval(db: ReadHandle, id: string): Approval | null {
  const row = db
    .prepare<[string], Row>(`SELECT ${COLUMNS} FROM every_approval WHERE id = ?`)
    .get(id);
  return row === undefined ? null : approvalOf(row);
}

/** Lists approvals, newest first. */
export function listApprovals(db: ReadHandle, filter: RowFilter, limit: number): Approval[] {
  const { sql, values } = whereOf(filter, { userId: "requester_id", projectId: "project_id" });
  return db
    .prepare<(string | number)[], Row>(
      `SELECT ${COLUMNS} FROM every_approval WHERE ${sql} ORDER BY created_at DESC, id LIMIT ?`,
    )
    .all(...values, limit)
    .map(approvalOf);
}

export function insertApproval(db: WriteHandle, approval: Approval): void {
  db.prepare(
    `INSERT INTO ${LATER.has(approval.what.kind) ? "later_approvals" : "approvals"} (id, kind, what, requester_id, project_id, state, decider_id, reason, single_person, created_at, expires_at, decided_at)
     VALUES (@id, @kind, @what, @requesterId, @projectId, @state, @deciderId, @reason, @singlePerson, @createdAt, @expiresAt, @decidedAt)`,
  ).run({
    ...approval,
    kind: approval.what.kind,
    what: JSON.stringify(approval.what),
    singlePerson: Number(approval.singlePerson),
  });
}

/** Writes the answer; false where somebody else was faster. An id stands in one of both tables. */
export function answerApproval(
  db: WriteHandle,
  id: string,
  answer: {
    state: Exclude<ApprovalState, "requested">;
    deciderId: string | null;
    reason: string | null;
    decidedAt: number;
  },
): boolean {
  const answeredIn = (table: "approvals" | "later_approvals"): boolean =>
    db
      .prepare(
        `UPDATE ${table} SET state = @state, decider_id = @deciderId, reason = coalesce(@reason, reason), decided_at = @decidedAt,
           -- Somebody else was there in the end.
           single_person = single_person AND coalesce(@deciderId, requester_id) = requester_id
         WHERE id = @id AND state = 'requested'`,
      )
      .run({ id, ...answer }).changes > 0;
  return answeredIn("approvals") || answeredIn("later_approvals");
}

/** The effect of an open request begins, by this person's approval. It stays so where the process is killed, or the effect fails. */
export function noteBegun(db: WriteHandle, id: string, deciderId: string): void {
  db.prepare("UPDATE approvals SET decider_id = ? WHERE id = ? AND state = 'requested'").run(
    deciderId,
    id,
  );
}

/** Requests that nobody answered in time. */
export function overdueApprovals(db: ReadHandle, now: number): Approval[] {
  return db
    .prepare<[number], Row>(
      `SELECT ${COLUMNS} FROM every_approval WHERE state = 'requested' AND expires_at <= ? LIMIT 100`,
    )
    .all(now)
    .map(approvalOf);
}

function approvalOf({ what, singlePerson, ...rest }: Row): Approval {
  return { ...rest, what: JSON.parse(what) as Requested, singlePerson: singlePerson === 1 };
}
