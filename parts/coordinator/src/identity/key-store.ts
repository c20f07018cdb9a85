/** Rows of platform keys. The key itself is nowhere: its hash is. */
import type { KeyReply, KeyScope } from "@resontech/contracts/http-identity";
import { ApiError } from "../api-error.ts";
import type { KeyCaller } from "../authorization/caller.ts";
import type { ProjectRole } from "../authorization/roles.ts";
import type { ReadHandle, WriteHandle } from "../db/open-database.ts";
import { type RowFilter, whereOf } from "../db/row-filter.ts";
import { UNSEEN_MS } from "./decisions/unseen.ts";
import { heldBy } from "./people-store.ts";

/** More than this many living keys of one user are refused. */
const MAX_KEYS_A_USER = 10;

export type NewKey = {
  id: string;
  hash: Buffer;
  prefix: string;
  last4: string;
  name: string;
  userId: string;
  projectId: string;
  scopes: readonly KeyScope[];
  createdAt: number;
  expiresAt: number;
};

type KeyRow = {
  id: string;
  name: string;
  prefix: string;
  last4: string;
  user_id: string;
  project_id: string;
  scopes: string;
  created_at: number;
  expires_at: number;
  last_used_at: number | null;
  revoked_at: number | null;
};

/**
 * Null for a key that is unknown, revoked, over or of a project that its user left. Of a good key: `disabled` where the operator disabled the user, `left` where the user's account is
 * gone, `unseen` where nobody knows and the last sign-in was too long ago.
 */
export function findCaller(
  db: ReadHandle,
  hash: Buffer,
  now: number,
): KeyCaller | "disabled" | "left" | "unseen" | null {
  const row = db
    .prepare<
      [Buffer, number],
      Pick<KeyRow, "id" | "user_id" | "project_id" | "scopes"> & {
        role: ProjectRole;
        disabled_at: number | null;
        left_at: number | null;
        source_kind: string | null;
        signed_in_at: number | null;
      }
    >(
      `SELECT k.id, k.user_id, k.project_id, k.scopes, m.role, u.disabled_at, u.left_at, u.source_kind, u.signed_in_at
       FROM platform_keys k JOIN users u ON u.id = k.user_id
       JOIN project_members m ON m.project_id = k.project_id AND m.user_id = k.user_id
       WHERE k.hash = ? AND k.revoked_at IS NULL AND k.expires_at > ?`,
    )
    .get(hash, now);
  if (row === undefined) return null;
  if (row.disabled_at !== null) return "disabled";
  if (row.left_at !== null) return "left";
  if (row.source_kind === "broker" && (row.signed_in_at ?? 0) <= now - UNSEEN_MS) return "unseen";
  const scopes = JSON.parse(row.scopes) as KeyScope[];
  const { id: keyId, user_id: userId, project_id: projectId, role } = row;
  return { kind: "key", keyId, userId, projectId, role, scopes, holds: heldBy(db, userId) };
}

export function listKeys(db: ReadHandle, filter: RowFilter): Omit<KeyReply, "current">[] {
  const { sql, values } = whereOf(filter, { userId: "user_id" });
  const rows = db
    .prepare<string[], KeyRow>(`SELECT * FROM platform_keys WHERE ${sql} ORDER BY created_at, id`)
    .all(...values);
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    last4: row.last4,
    projectId: row.project_id,
    scopes: JSON.parse(row.scopes) as KeyScope[],
    createdAt: instant(row.created_at),
    expiresAt: instant(row.expires_at),
    lastUsedAt: row.last_used_at === null ? null : instant(row.last_used_at),
    revokedAt: row.revoked_at === null ? null : instant(row.revoked_at),
  }));
}

/** A key is told of so long before its end. */
const ENDING_MS = 14 * 86_400_000;
/** More would say nothing that the first ones don't. */
const MAX_ENDING = 50;

/** Living keys of users who are not disabled that end within two weeks, the soonest first; one that ended within a day is told, too. */
export function endingKeys(
  db: Pick<WriteHandle, "prepare">,
  now: number,
): { key: string; username: string; expiresAt: string }[] {
  const rows = db
    .prepare<[number, number, number], { id: string; username: string; expires_at: number }>(
      `SELECT k.id, u.username, k.expires_at FROM platform_keys k JOIN users u ON u.id = k.user_id
       WHERE k.revoked_at IS NULL AND u.disabled_at IS NULL AND k.expires_at > ? AND k.expires_at <= ? ORDER BY k.expires_at LIMIT ?`,
    )
    .all(now - 86_400_000, now + ENDING_MS, MAX_ENDING);
  return rows.map(({ id, username, expires_at }) => ({
    key: id,
    username,
    expiresAt: instant(expires_at),
  }));
}

export function findKeyOwner(db: ReadHandle, keyId: string): { userId: string } | null {
  const owner = db
    .prepare<[string], { userId: string }>(
      "SELECT user_id AS userId FROM platform_keys WHERE id = ?",
    )
    .get(keyId);
  return owner ?? null;
}

export function hasAnyKey(db: ReadHandle, userId: string): boolean {
  return (
    db.prepare("SELECT 1 FROM platform_keys WHERE user_id = ? LIMIT 1").get(userId) !== undefined
  );
}

function countLivingKeys(db: Pick<WriteHandle, "prepare">, userId: string, now: number): number {
  const row = db
    .prepare<[string, number], { n: number }>(
      "SELECT count(*) AS n FROM platform_keys WHERE user_id = ? AND revoked_at IS NULL AND expires_at > ?",
    )
    .get(userId, now);
  return row?.n ?? 0;
}

/** @throws ApiError too_many_keys */
export function insertKey(db: WriteHandle, key: NewKey): void {
  if (countLivingKeys(db, key.userId, key.createdAt) >= MAX_KEYS_A_USER) {
    throw new ApiError("too_many_keys", `the user has ${MAX_KEYS_A_USER} living keys`);
  }
  db.prepare(
    `INSERT INTO platform_keys (id, hash, prefix, last4, name, user_id, project_id, scopes, created_at, expires_at)
     VALUES (@id, @hash, @prefix, @last4, @name, @userId, @projectId, @scopes, @createdAt, @expiresAt)`,
  ).run({ ...key, scopes: JSON.stringify(key.scopes) });
}

/** Whosever key it is. A revoked key stays revoked. @throws ApiError not_found */
export function renewKey(db: WriteHandle, keyId: string, expiresAt: number): void {
  const { changes } = db
    .prepare("UPDATE platform_keys SET expires_at = ? WHERE id = ? AND revoked_at IS NULL")
    .run(expiresAt, keyId);
  if (changes === 0) throw new ApiError("not_found", "there is no such key, or it was revoked");
}

/** Whosever key it is; revoking twice changes nothing. @throws ApiError not_found */
export function revokeKey(db: WriteHandle, keyId: string, now: number): void {
  const { changes } = db
    .prepare("UPDATE platform_keys SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?")
    .run(now, keyId);
  if (changes === 0) throw new ApiError("not_found", "there is no such key");
}

/** All of a user in one project. Answers how many were living. */
export function revokeKeysIn(
  db: WriteHandle,
  { projectId, userId }: { projectId: string; userId: string },
  now: number,
): number {
  return db
    .prepare(
      "UPDATE platform_keys SET revoked_at = ? WHERE project_id = ? AND user_id = ? AND revoked_at IS NULL",
    )
    .run(now, projectId, userId).changes;
}

export function noteUse(db: WriteHandle, keyId: string, now: number): void {
  db.prepare("UPDATE platform_keys SET last_used_at = ? WHERE id = ?").run(now, keyId);
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}
