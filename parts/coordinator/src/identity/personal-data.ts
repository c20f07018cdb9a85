/** What the rows hold about one person, and how a person's name leaves them. */
import type { ReadHandle, WriteHandle } from "../db/open-database.ts";
import { PERSONAL_COLUMNS, type PersonalPart } from "./decisions/personal-columns.ts";
import { setRoles } from "./role-holders.ts";

/** One row about the person; instants in RFC 3339. */
export type PersonalRow = { part: PersonalPart } & Record<string, string | number | null>;
/** The person's own row. */
export type PersonalAccount = {
  user: string;
  username: string;
  createdAt: string;
  signedInAt: string | null;
  disabledAt: string | null;
  leftAt: string | null;
  /** Name of the directory, and the person's id there; null of who is kept here. */
  source: string | null;
  sourceId: string | null;
};

type UserRow = {
  username: string;
  created_at: number;
  signed_in_at: number | null;
  disabled_at: number | null;
  left_at: number | null;
  source: string | null;
  source_subject: string | null;
};

/** Reads a person's account; null where there is no such person. */
export function accountOf(db: ReadHandle, userId: string): PersonalAccount | null {
  const row = db
    .prepare<[string], UserRow>(
      `SELECT username, created_at, signed_in_at, disabled_at, left_at, source, source_subject FROM users
       WHERE id = ? AND kind = 'person'`,
    )
    .get(userId);
  if (row === undefined) return null;
  return {
    ...{ user: userId, username: row.username, createdAt: instant(row.created_at) },
    ...{ signedInAt: instant(row.signed_in_at), disabledAt: instant(row.disabled_at) },
    ...{ leftAt: instant(row.left_at), source: row.source, sourceId: row.source_subject },
  };
}

/** Rows about the person, one part after the other, as they are read. */
export function* personalRows(db: ReadHandle, userId: string): Generator<PersonalRow> {
  for (const { part, select } of PERSONAL_COLUMNS)
    for (const row of db
      .prepare<[{ userId: string }], Record<string, string | number | null>>(select)
      .all({ userId }))
      yield { ...withInstants(row), part };
}

/** How much of what {@link forgetPerson} takes is there, and of what stays: by part, with the reason. */
export function personalTraces(
  db: ReadHandle,
  userId: string,
): { part: PersonalPart; count: number; stays: string | null }[] {
  return PERSONAL_COLUMNS.flatMap(({ part, select, forget }) => {
    const { length: count } = db.prepare<[{ userId: string }], object>(select).all({ userId });
    return count === 0 ? [] : [{ part, count, stays: forget.stays ?? null }];
  });
}

/** The name by which a forgotten person stands in lists. */
export function forgottenName(userId: string): string {
  return `forgotten-${userId.slice(2, 14)}`;
}

/** Forgets a person in the transaction of the change: afterwards no row ties the pseudonym to a name, a directory or an account. */
export function forgetPerson(db: WriteHandle, userId: string, now: number): void {
  setRoles(db, userId, []);
  for (const { forget } of PERSONAL_COLUMNS)
    for (const sql of "sql" in forget ? [forget.sql].flat() : [])
      db.prepare(sql).run({ userId, ...timeFor(sql, now) });
  db.prepare(
    `UPDATE users SET username = ?, subject = NULL, source = NULL, source_subject = NULL, source_kind = NULL,
       disabled_at = coalesce(disabled_at, ?) WHERE id = ?`,
  ).run(forgottenName(userId), now, userId);
}

/** A statement is given the parameters alone that it names. */
function timeFor(sql: string, now: number): { now?: number } {
  return sql.includes("@now") ? { now } : {};
}

function withInstants(
  row: Record<string, string | number | null>,
): Record<string, string | number | null> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      name.endsWith("At") && typeof value === "number" ? instant(value) : value,
    ]),
  );
}

function instant(ms: number): string;
function instant(ms: number | null): string | null;
function instant(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
