/** Rows of sessions. What the cookie holds is nowhere: its hash is. */
import type { ApplianceRole } from "../../authorization/roles.ts";
import type { ReadHandle, WriteHandle } from "../../db/open-database.ts";

/** Instants in Unix milliseconds. */
export type Session = {
  hash: Buffer;
  /** What the audit log holds a commitment to. */
  id: string;
  userId: string;
  sid: string;
  roles: ApplianceRole[];
  acr: string;
  signedInAt: number;
  beganAt: number;
  activeAt: number;
  endsAt: number;
  checkedAt: number;
  /** Sealed. */
  tokens: Buffer;
};

type Row = Omit<Session, "roles"> & { roles: string };

const COLUMNS = `hash, id, user_id AS userId, sid, roles, acr, signed_in_at AS signedInAt, began_at AS beganAt,
  active_at AS activeAt, ends_at AS endsAt, checked_at AS checkedAt, tokens`;

export function findSession(db: ReadHandle, hash: Buffer): Session | null {
  const row = db.prepare<[Buffer], Row>(`SELECT ${COLUMNS} FROM sessions WHERE hash = ?`).get(hash);
  return row === undefined ? null : { ...row, roles: JSON.parse(row.roles) as ApplianceRole[] };
}

export function insertSession(db: WriteHandle, session: Session): void {
  db.prepare(
    `INSERT INTO sessions (hash, id, user_id, sid, roles, acr, signed_in_at, began_at, active_at, ends_at, checked_at, tokens)
     VALUES (@hash, @id, @userId, @sid, @roles, @acr, @signedInAt, @beganAt, @activeAt, @endsAt, @checkedAt, @tokens)`,
  ).run({ ...session, roles: JSON.stringify(session.roles) });
}

export function noteActivity(db: WriteHandle, hash: Buffer, now: number): void {
  db.prepare("UPDATE sessions SET active_at = max(active_at, ?) WHERE hash = ?").run(now, hash);
}

/** What a fresh answer of Keycloak says; a session that has ended meanwhile stays ended. */
export function noteCheck(
  db: WriteHandle,
  hash: Buffer,
  { roles, tokens, now }: { roles: readonly ApplianceRole[]; tokens: Buffer; now: number },
): void {
  db.prepare("UPDATE sessions SET roles = ?, tokens = ?, checked_at = ? WHERE hash = ?").run(
    JSON.stringify(roles),
    tokens,
    now,
    hash,
  );
}

/** Ends a session; false when it had ended already. */
export function deleteSession(db: WriteHandle, hash: Buffer): boolean {
  return db.prepare("DELETE FROM sessions WHERE hash = ?").run(hash).changes > 0;
}

/** The person's, those that are over by time alone left out. */
export function sessionsOfUser(
  db: ReadHandle,
  userId: string,
  { idleBefore, now }: { idleBefore: number; now: number },
): Pick<Session, "id" | "sid" | "beganAt" | "activeAt">[] {
  return db
    .prepare<[string, number, number], Pick<Session, "id" | "sid" | "beganAt" | "activeAt">>(
      `SELECT id, sid, began_at AS beganAt, active_at AS activeAt FROM sessions
       WHERE user_id = ? AND ends_at > ? AND active_at > ? ORDER BY began_at`,
    )
    .all(userId, now, idleBefore);
}

export type EndedSession = { id: string; userId: string; sid: string };

/** Every session of the person, or of one session at Keycloak. */
export function deleteSessionsOf(
  db: WriteHandle,
  of: { userId: string } | { sid: string },
): EndedSession[] {
  const [column, value] = "sid" in of ? ["sid", of.sid] : ["user_id", of.userId];
  return db
    .prepare<[string], EndedSession>(
      `DELETE FROM sessions WHERE ${column} = ? RETURNING id, user_id AS userId, sid`,
    )
    .all(value);
}

/** Longer than an access token lives. */
const ENDED_KEPT_MS = 10 * 60_000;

export function noteEnded(db: WriteHandle, sid: string, now: number): void {
  db.prepare("DELETE FROM ended_sids WHERE ended_at < ?").run(now - ENDED_KEPT_MS);
  db.prepare("INSERT OR REPLACE INTO ended_sids (sid, ended_at) VALUES (?, ?)").run(sid, now);
}

export function hasEnded(db: ReadHandle, sid: string): boolean {
  return db.prepare("SELECT 1 FROM ended_sids WHERE sid = ?").get(sid) !== undefined;
}

/** Sessions that are over by time alone: nobody may ever send their cookies again. */
export function deleteOverSessions(
  db: WriteHandle,
  { idleBefore, now }: { idleBefore: number; now: number },
): (EndedSession & { endsAt: number })[] {
  return db
    .prepare<[number, number], EndedSession & { endsAt: number }>(
      "DELETE FROM sessions WHERE ends_at <= ? OR active_at <= ? RETURNING id, user_id AS userId, sid, ends_at AS endsAt",
    )
    .all(now, idleBefore);
}
