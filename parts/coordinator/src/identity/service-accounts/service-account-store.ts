/** Rows of service accounts. Instants in Unix milliseconds. */
import {
  MAX_SERVICE_ACCOUNTS,
  type ServiceAccountScope,
} from "@resontech/contracts/http-service-accounts";
import { ApiError } from "../../api-error.ts";
import type { ReadHandle, WriteHandle } from "../../db/open-database.ts";

/** @property clientId at Keycloak, which names it in tokens @property createdBy who made it @property answeredBy who made it, or who adopted it */
export type ServiceAccount = {
  id: string;
  projectId: string;
  name: string;
  clientId: string;
  scopes: readonly ServiceAccountScope[];
  thumbprint: string;
  createdBy: { id: string; username: string };
  answeredBy: { id: string; username: string };
  /** Since when nobody answers for it; null while somebody does. */
  orphanedAt: number | null;
  createdAt: number;
  expiresAt: number;
  lastUsedAt: number | null;
  revokedAt: number | null;
};
/** @property subject Keycloak's id of the client's own user @property registration sealed */
export type NewServiceAccount = Omit<
  ServiceAccount,
  "createdBy" | "answeredBy" | "orphanedAt" | "createdAt" | "lastUsedAt" | "revokedAt"
> & { subject: string; registration: Buffer; createdBy: string; createdAt: number };

type AnyHandle = Pick<WriteHandle, "prepare">;
type Row = {
  id: string;
  projectId: string;
  name: string;
  clientId: string;
  scopes: string;
  thumbprint: string;
  createdBy: string;
  answerableId: string;
  answerable: string;
  orphanedAt: number | null;
  creator: string;
  createdAt: number;
  expiresAt: number;
  lastUsedAt: number | null;
  revokedAt: number | null;
};

const ACCOUNTS = `SELECT a.id, a.project_id AS projectId, a.name, a.client_id AS clientId, a.scopes, a.thumbprint,
    a.created_by AS createdBy, r.id AS answerableId, r.username AS answerable, a.orphaned_at AS orphanedAt, c.username AS creator, a.created_at AS createdAt, a.expires_at AS expiresAt,
    a.last_used_at AS lastUsedAt, a.revoked_at AS revokedAt
  FROM service_accounts a JOIN users c ON c.id = a.created_by JOIN users r ON r.id = coalesce(a.answerable_id, a.created_by)`;

function accountOf({
  creator,
  createdBy,
  answerableId,
  answerable,
  scopes,
  ...row
}: Row): ServiceAccount {
  return {
    ...row,
    scopes: JSON.parse(scopes) as ServiceAccountScope[],
    createdBy: { id: createdBy, username: creator },
    answeredBy: { id: answerableId, username: answerable },
  };
}

/** The newest first. */
export function accountsOfProject(db: AnyHandle, projectId: string): ServiceAccount[] {
  return db
    .prepare<[string], Row>(`${ACCOUNTS} WHERE a.project_id = ? ORDER BY a.created_at DESC, a.id`)
    .all(projectId)
    .map(accountOf);
}

export function findAccountOfClient(
  db: ReadHandle,
  { clientId, subject }: { clientId: string; subject: string },
): ServiceAccount | null {
  const row = db
    .prepare<[string, string], Row>(
      `${ACCOUNTS} JOIN users u ON u.id = a.id WHERE a.client_id = ? AND u.subject = ?`,
    )
    .get(clientId, subject);
  return row === undefined ? null : accountOf(row);
}

/** Finds a service account; null also for one of another project. */
export function findAccount(db: AnyHandle, projectId: string, id: string): ServiceAccount | null {
  const row = db
    .prepare<[string, string], Row>(`${ACCOUNTS} WHERE a.project_id = ? AND a.id = ?`)
    .get(projectId, id);
  return row === undefined ? null : accountOf(row);
}

/** Whether some project has, or had, it. */
export function isAccount(db: AnyHandle, id: string): boolean {
  return db.prepare("SELECT 1 FROM service_accounts WHERE id = ?").get(id) !== undefined;
}

/** @throws ApiError too_many_service_accounts */
export function requireRoom(db: AnyHandle, projectId: string, now: number): void {
  const living = db
    .prepare<[string, number], number>(
      "SELECT count(*) FROM service_accounts WHERE project_id = ? AND revoked_at IS NULL AND expires_at > ?",
    )
    .pluck()
    .get(projectId, now);
  if ((living ?? 0) >= MAX_SERVICE_ACCOUNTS)
    throw new ApiError(
      "too_many_service_accounts",
      `the project has ${MAX_SERVICE_ACCOUNTS} living service accounts`,
    );
}

/** @throws ApiError too_many_service_accounts */
export function insertAccount(db: WriteHandle, account: NewServiceAccount): void {
  requireRoom(db, account.projectId, account.createdAt);
  db.prepare(
    `INSERT INTO users (id, username, is_admin, created_at, subject, kind)
     VALUES (@id, @username, 0, @createdAt, @subject, 'service-account')`,
  ).run({
    ...{ id: account.id, createdAt: account.createdAt, subject: account.subject },
    // No person can be called so: names of people have no colon.
    username: `service-account:${account.id}`,
  });
  const { subject: _subject, scopes, ...row } = account;
  db.prepare(
    `INSERT INTO service_accounts (id, project_id, name, client_id, scopes, thumbprint, created_by, created_at, expires_at, registration)
     VALUES (@id, @projectId, @name, @clientId, @scopes, @thumbprint, @createdBy, @createdAt, @expiresAt, @registration)`,
  ).run({ ...row, scopes: JSON.stringify(scopes) });
}

/** Its jobs can be handed over from then on. Revoking twice changes nothing. */
export function noteRevoked(db: WriteHandle, id: string, now: number): void {
  db.prepare("UPDATE service_accounts SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?").run(
    now,
    id,
  );
  db.prepare("UPDATE users SET disabled_at = coalesce(disabled_at, ?) WHERE id = ?").run(now, id);
}

export function noteAccountUse(db: WriteHandle, id: string, now: number): void {
  db.prepare("UPDATE service_accounts SET last_used_at = ? WHERE id = ?").run(now, id);
}

/** All that may still come in. */
export function livingAccounts(db: AnyHandle, now: number): ServiceAccount[] {
  return db
    .prepare<[number], Row>(
      `${ACCOUNTS} WHERE a.revoked_at IS NULL AND a.expires_at > ? ORDER BY a.id`,
    )
    .all(now)
    .map(accountOf);
}

/** @param at since when nobody answers for it; null where somebody does again */
export function noteOrphaned(db: WriteHandle, id: string, at: number | null): void {
  db.prepare("UPDATE service_accounts SET orphaned_at = ? WHERE id = ?").run(at, id);
}

/** This person answers for it from now on. */
export function noteAdopted(db: WriteHandle, id: string, userId: string): void {
  db.prepare("UPDATE service_accounts SET answerable_id = ?, orphaned_at = NULL WHERE id = ?").run(
    userId,
    id,
  );
}

/** Those that end unless a lead adopts them, the oldest first. */
export function orphanedAccounts(
  db: AnyHandle,
  now: number,
): { account: string; name: string; project: string; projectId: string; orphanedAt: string }[] {
  return db
    .prepare<
      [number, number],
      { account: string; name: string; project: string; projectId: string; orphanedAt: number }
    >(
      `SELECT a.id AS account, a.name, p.name AS project, p.id AS projectId, a.orphaned_at AS orphanedAt
       FROM service_accounts a JOIN projects p ON p.id = a.project_id
       WHERE a.orphaned_at IS NOT NULL AND a.revoked_at IS NULL AND a.expires_at > ? ORDER BY a.orphaned_at LIMIT ?`,
    )
    .all(now, MAX_ENDING)
    .map((row) => ({ ...row, orphanedAt: new Date(row.orphanedAt).toISOString() }));
}

/** Clients that Keycloak has to forget: of accounts that are over. */
export function accountsToRemove(
  db: ReadHandle,
  now: number,
): { id: string; clientId: string; subject: string; registration: Buffer }[] {
  return db
    .prepare<[number], { id: string; clientId: string; subject: string; registration: Buffer }>(
      `SELECT a.id, a.client_id AS clientId, u.subject, a.registration FROM service_accounts a JOIN users u ON u.id = a.id
       WHERE a.registration IS NOT NULL AND (a.revoked_at IS NOT NULL OR a.expires_at <= ?)`,
    )
    .all(now);
}

/** Keycloak has forgotten its client. */
export function noteRemoved(db: WriteHandle, id: string, now: number): void {
  db.prepare("UPDATE service_accounts SET registration = NULL WHERE id = ?").run(id);
  db.prepare("UPDATE users SET disabled_at = coalesce(disabled_at, ?) WHERE id = ?").run(now, id);
}

export function isKnownClient(db: ReadHandle, clientId: string): boolean {
  return (
    db.prepare("SELECT 1 FROM service_accounts WHERE client_id = ?").get(clientId) !== undefined
  );
}

/** An account is told of so long before its end. */
const ENDING_MS = 14 * 86_400_000;
const ENDED_TOLD_MS = 86_400_000;
const MAX_ENDING = 50;

/** Those that end within two weeks, the soonest first; one that ended within a day is told, too. */
export function endingAccounts(
  db: AnyHandle,
  now: number,
): { account: string; name: string; project: string; expiresAt: string }[] {
  return db
    .prepare<
      [number, number, number],
      { account: string; name: string; project: string; expiresAt: number }
    >(
      `SELECT a.id AS account, a.name, p.name AS project, a.expires_at AS expiresAt
       FROM service_accounts a JOIN projects p ON p.id = a.project_id
       WHERE a.revoked_at IS NULL AND a.expires_at > ? AND a.expires_at <= ? ORDER BY a.expires_at LIMIT ?`,
    )
    .all(now - ENDED_TOLD_MS, now + ENDING_MS, MAX_ENDING)
    .map((row) => ({ ...row, expiresAt: new Date(row.expiresAt).toISOString() }));
}
