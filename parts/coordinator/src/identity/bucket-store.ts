/** Rows of users and buckets. Each project has a bucket. */
import type { ReadHandle, WriteHandle } from "../db/open-database.ts";

/**
 * A project's bucket. @property logId names it in the audit log: its name holds what people call the project
 * @property isMade whether the engine has it
 */
export type Bucket = {
  name: string;
  projectId: string;
  logId: string;
  quotaBytes: number;
  isMade: boolean;
};
export type UserRow = { id: string; username: string; isDisabled: boolean };

const BUCKETS = "SELECT name, project_id, log_id, quota_bytes, made_at FROM buckets";

type BucketRow = {
  name: string;
  project_id: string;
  log_id: string;
  quota_bytes: number;
  made_at: number | null;
};

/** Finds a project's bucket from the moment that its row is written; null for no such project. */
export function findBucketOfProject(db: ReadHandle, projectId: string): Bucket | null {
  return bucketOf(
    db.prepare<[string], BucketRow>(`${BUCKETS} WHERE project_id = ?`).get(projectId),
  );
}

export function findBucket(db: Pick<ReadHandle, "prepare">, name: string): Bucket | null {
  return bucketOf(db.prepare<[string], BucketRow>(`${BUCKETS} WHERE name = ?`).get(name));
}

function bucketOf(row: BucketRow | undefined): Bucket | null {
  if (row === undefined) return null;
  return {
    ...{ name: row.name, projectId: row.project_id, logId: row.log_id },
    ...{ quotaBytes: row.quota_bytes, isMade: row.made_at !== null },
  };
}

export type NewBucket = {
  bucket: string;
  projectId: string;
  logId: string;
  quotaBytes: number;
  now: number;
};

/** The engine has yet to make it. */
export function insertBucket(db: WriteHandle, row: NewBucket): void {
  db.prepare(
    `INSERT INTO buckets (name, project_id, log_id, quota_bytes, created_at)
     VALUES (@bucket, @projectId, @logId, @quotaBytes, @now)`,
  ).run(row);
}

/** The engine has it, versioned. */
export function noteMade(db: WriteHandle, bucket: string, now: number): void {
  db.prepare("UPDATE buckets SET made_at = coalesce(made_at, ?) WHERE name = ?").run(now, bucket);
}

/** Bytes; null where the project has no bucket. */
export function projectQuota(read: ReadHandle, projectId: string): number | null {
  const row = read
    .prepare<[string], { quota_bytes: number }>(
      "SELECT quota_bytes FROM buckets WHERE project_id = ? LIMIT 1",
    )
    .get(projectId);
  return row?.quota_bytes ?? null;
}

export function setProjectQuota(db: WriteHandle, projectId: string, bytes: number): void {
  db.prepare("UPDATE buckets SET quota_bytes = ? WHERE project_id = ?").run(bytes, projectId);
}

/** A person: a service account has no name to be found by. */
export function findUser(db: ReadHandle, username: string): UserRow | null {
  const row = db
    .prepare<[string], { id: string; username: string; disabled_at: number | null }>(
      "SELECT id, username, disabled_at FROM users WHERE kind = 'person' AND username = ?",
    )
    .get(username);
  return row === undefined
    ? null
    : { id: row.id, username: row.username, isDisabled: row.disabled_at !== null };
}

export type NewPerson = { userId: string; username: string; now: number };
export type NewUser = NewPerson & { projectId: string; bucket: string; quotaBytes: number };

/** Somebody with a duty on the whole appliance: no project, no bucket, no key. */
export function insertPerson(db: WriteHandle, { userId, username, now }: NewPerson): void {
  db.prepare("INSERT INTO users (id, username, is_admin, created_at) VALUES (?, ?, 0, ?)").run(
    ...[userId, username, now],
  );
}

/** Writes a person with a first project of their own, and its bucket. */
export function insertUser(db: WriteHandle, user: NewUser): void {
  const { userId, projectId, bucket, quotaBytes, now } = user;
  insertPerson(db, user);
  db.prepare(
    "INSERT INTO projects (id, owner_id, name, is_default, created_at) VALUES (?, ?, 'default', 1, ?)",
  ).run(projectId, userId, now);
  db.prepare(
    "INSERT INTO project_members (project_id, user_id, role, created_at) VALUES (?, ?, 'project-lead', ?)",
  ).run(projectId, userId, now);
  insertBucket(db, { bucket, projectId, logId: userId, quotaBytes, now });
}
