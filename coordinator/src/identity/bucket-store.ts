/** Rows of users, projects and buckets. */
import type { ReadHandle, WriteHandle } from "../db/open-database.ts";
import { type RowFilter, whereOf } from "../db/row-filter.ts";

export type Bucket = { name: string; ownerId: string; quotaBytes: number; accessKeyId: string };
export type UnsettledPair = {
  bucket: string;
  accessKeyId: string | null;
  pending: string | null;
  retired: string | null;
};
export type Project = { id: string; name: string; isDefault: boolean; createdAt: number };
export type UserRow = { id: string; username: string; isDisabled: boolean };

type BucketRow = {
  name: string;
  owner_id: string;
  quota_bytes: number;
  access_key_id: string | null;
};

/** The bucket of a user, once it is ready. */
export function findBucket(db: ReadHandle, userId: string): Bucket | null {
  const row = db
    .prepare<[string], BucketRow>(
      "SELECT name, owner_id, quota_bytes, access_key_id FROM buckets WHERE owner_id = ?",
    )
    .get(userId);
  if (row === undefined || row.access_key_id === null) return null;
  return {
    name: row.name,
    ownerId: row.owner_id,
    quotaBytes: row.quota_bytes,
    accessKeyId: row.access_key_id,
  };
}

/** Whose bucket it is and what it may hold, from the moment its row is written. */
export function findQuota(
  db: ReadHandle,
  bucket: string,
): { ownerId: string; quotaBytes: number } | null {
  const row = db
    .prepare<[string], { ownerId: string; quotaBytes: number }>(
      "SELECT owner_id AS ownerId, quota_bytes AS quotaBytes FROM buckets WHERE name = ?",
    )
    .get(bucket);
  return row ?? null;
}

/** Whose key pair it is: the bucket's own, one that is about to be, or the one before it until the engine has forgotten it. */
export function findOwnerOfKey(
  db: ReadHandle,
  accessKeyId: string,
): { ownerId: string; name: string; createdAt: number } | null {
  const row = db
    .prepare<[string], { ownerId: string; name: string; createdAt: number }>(
      `SELECT owner_id AS ownerId, name, created_at AS createdAt FROM buckets
       WHERE ? IN (access_key_id, pending_access_key_id, retired_access_key_id)`,
    )
    .get(accessKeyId);
  return row ?? null;
}

export function findUser(db: ReadHandle, username: string): UserRow | null {
  const row = db
    .prepare<[string], { id: string; username: string; disabled_at: number | null }>(
      "SELECT id, username, disabled_at FROM users WHERE username = ?",
    )
    .get(username);
  return row === undefined
    ? null
    : { id: row.id, username: row.username, isDisabled: row.disabled_at !== null };
}

export function findDefaultProject(db: ReadHandle, userId: string): string | null {
  const row = db
    .prepare<[string], { id: string }>(
      "SELECT id FROM projects WHERE owner_id = ? AND is_default = 1",
    )
    .get(userId);
  return row?.id ?? null;
}

/** Inside a transaction: whether files of a project's sites may leave them. */
export function setSiteFiles(db: WriteHandle, projectId: string, allowed: boolean): void {
  db.prepare("UPDATE projects SET returns_site_files = ? WHERE id = ?").run(
    Number(allowed),
    projectId,
  );
}

export function listProjects(db: ReadHandle, filter: RowFilter): Project[] {
  const { sql, values } = whereOf(filter, { projectId: "id" });
  const rows = db
    .prepare<string[], { id: string; name: string; is_default: number; created_at: number }>(
      `SELECT id, name, is_default, created_at FROM projects WHERE ${sql} ORDER BY created_at, id`,
    )
    .all(...values);
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    isDefault: row.is_default === 1,
    createdAt: row.created_at,
  }));
}

export function bucketNameOf(db: ReadHandle, userId: string): string | null {
  return (
    db
      .prepare<[string], { name: string }>("SELECT name FROM buckets WHERE owner_id = ?")
      .get(userId)?.name ?? null
  );
}

export type NewUser = {
  userId: string;
  username: string;
  isAdmin: boolean;
  projectId: string;
  bucket: string;
  quotaBytes: number;
  now: number;
};

export function insertUser(db: WriteHandle, user: NewUser): void {
  db.prepare("INSERT INTO users (id, username, is_admin, created_at) VALUES (?, ?, ?, ?)").run(
    user.userId,
    user.username,
    user.isAdmin ? 1 : 0,
    user.now,
  );
  db.prepare(
    "INSERT INTO projects (id, owner_id, name, is_default, created_at) VALUES (?, ?, 'default', 1, ?)",
  ).run(user.projectId, user.userId, user.now);
  db.prepare(
    "INSERT INTO project_members (project_id, user_id, role, created_at) VALUES (?, ?, 'project-lead', ?)",
  ).run(user.projectId, user.userId, user.now);
  db.prepare(
    "INSERT INTO buckets (name, owner_id, quota_bytes, created_at) VALUES (?, ?, ?, ?)",
  ).run(user.bucket, user.userId, user.quotaBytes, user.now);
}

/** Pairs that a crash may have left in the engine without a meaning. */
export function unsettledPairs(db: ReadHandle): UnsettledPair[] {
  return db
    .prepare<[], UnsettledPair>(
      `SELECT name AS bucket, access_key_id AS accessKeyId, pending_access_key_id AS pending, retired_access_key_id AS retired
       FROM buckets WHERE pending_access_key_id IS NOT NULL OR retired_access_key_id IS NOT NULL`,
    )
    .all();
}

/** The row names the new pair before the engine knows it, so that nothing unknown is ever left there. */
export function notePendingPair(db: WriteHandle, bucket: string, accessKeyId: string): void {
  db.prepare("UPDATE buckets SET pending_access_key_id = ? WHERE name = ?").run(
    accessKeyId,
    bucket,
  );
}

/** The pending pair is the bucket's from here on, with these rights. Answers with the one before it, which the engine has yet to forget. */
export function promotePair(db: WriteHandle, bucket: string, rights: string): string | null {
  const row = db
    .prepare<[string, string], { retired: string | null }>(
      `UPDATE buckets SET retired_access_key_id = access_key_id, access_key_id = pending_access_key_id, pending_access_key_id = NULL, rights = ?
       WHERE name = ? RETURNING retired_access_key_id AS retired`,
    )
    .get(rights, bucket);
  return row?.retired ?? null;
}

/** Buckets that have a pair, and other rights than these. */
export function bucketsWithOtherRights(db: ReadHandle, rights: string): string[] {
  return db
    .prepare<[string], string>(
      "SELECT name FROM buckets WHERE access_key_id IS NOT NULL AND rights IS NOT ? ORDER BY name",
    )
    .pluck()
    .all(rights);
}

/** The pair to which other rights than these were given; null where none is left to be given any. */
export function pairWithOtherRights(db: ReadHandle, bucket: string, rights: string): string | null {
  const row = db
    .prepare<[string, string], string | null>(
      "SELECT access_key_id FROM buckets WHERE name = ? AND rights IS NOT ?",
    )
    .pluck()
    .get(bucket, rights);
  return row ?? null;
}

export function noteRights(db: WriteHandle, bucket: string, rights: string): void {
  db.prepare("UPDATE buckets SET rights = ? WHERE name = ?").run(rights, bucket);
}

/** Buckets whose user is disabled and whose pair is still there: a kill came between the two. */
export function bucketsToWithdraw(db: ReadHandle): string[] {
  return db
    .prepare<[], { name: string }>(
      "SELECT name FROM buckets JOIN users ON users.id = owner_id WHERE disabled_at IS NOT NULL AND access_key_id IS NOT NULL",
    )
    .all()
    .map(({ name }) => name);
}

/** The bucket has no pair from here on. Answers with the one that the engine has yet to forget. */
export function retirePair(db: WriteHandle, bucket: string): string | null {
  const row = db
    .prepare<[string], { retired: string | null }>(
      `UPDATE buckets SET retired_access_key_id = access_key_id, access_key_id = NULL WHERE name = ? RETURNING retired_access_key_id AS retired`,
    )
    .get(bucket);
  return row?.retired ?? null;
}

export function setQuota(db: WriteHandle, userId: string, bytes: number): void {
  db.prepare("UPDATE buckets SET quota_bytes = ? WHERE owner_id = ?").run(bytes, userId);
}

/** Null where there is no such project. */
export function findProjectOwner(db: ReadHandle, projectId: string): string | null {
  return (
    db
      .prepare<[string], string>("SELECT owner_id FROM projects WHERE id = ?")
      .pluck()
      .get(projectId) ?? null
  );
}

export function projectName(db: ReadHandle, projectId: string): string | null {
  return (
    db.prepare<[string], string>("SELECT name FROM projects WHERE id = ?").pluck().get(projectId) ??
    null
  );
}

export function setProjectQuota(db: WriteHandle, projectId: string, bytes: number): void {
  db.prepare(
    "UPDATE buckets SET quota_bytes = ? WHERE owner_id = (SELECT owner_id FROM projects WHERE id = ?)",
  ).run(bytes, projectId);
}

export function settlePair(db: WriteHandle, bucket: string): void {
  db.prepare(
    "UPDATE buckets SET pending_access_key_id = NULL, retired_access_key_id = NULL WHERE name = ?",
  ).run(bucket);
}
