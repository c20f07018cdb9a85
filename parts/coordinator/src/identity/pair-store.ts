/** Rows of key pairs: each member who may read and write has one for the project's bucket. */
import type { ReadHandle, WriteHandle } from "../db/open-database.ts";
import { UNSEEN_MS } from "./decisions/unseen.ts";

export type UnsettledPair = {
  bucket: string;
  userId: string;
  pending: string | null;
  retired: string | null;
};
export type PairOf = { bucket: string; userId: string };

/** Members of these roles have a pair: viewers see no data. */
const WITH_PAIR = "m.role IN ('project-lead', 'researcher')";

/** The access key of a user's pair for a bucket; null where there is none that is good. */
export function findAccessKey(db: ReadHandle, { bucket, userId }: PairOf): string | null {
  return (
    db
      .prepare<[string, string], string | null>(
        "SELECT access_key_id FROM bucket_pairs WHERE bucket = ? AND user_id = ?",
      )
      .pluck()
      .get(bucket, userId) ?? null
  );
}

/** Whose key pair it is and for which bucket: one that is good, one that is about to be, or the one before until the engine has forgotten it. */
export function findPair(
  db: ReadHandle,
  accessKeyId: string,
): { userId: string; name: string; createdAt: number } | null {
  const row = db
    .prepare<[string], { userId: string; name: string; createdAt: number }>(
      `SELECT k.user_id AS userId, b.name, b.created_at AS createdAt FROM bucket_pairs k JOIN buckets b ON b.name = k.bucket
       WHERE ? IN (k.access_key_id, k.pending_access_key_id, k.retired_access_key_id)`,
    )
    .get(accessKeyId);
  return row ?? null;
}

/** Access keys that the bucket's policy names. */
export function livingAccessKeys(db: ReadHandle, bucket: string): string[] {
  return db
    .prepare<[string], string>(
      `SELECT access_key_id FROM bucket_pairs WHERE bucket = ? AND access_key_id IS NOT NULL
       ORDER BY created_at, user_id`,
    )
    .pluck()
    .all(bucket);
}

/** Lists the user's pairs in every project. */
export function pairsOf(db: ReadHandle, userId: string): PairOf[] {
  return db
    .prepare<[string], PairOf>(
      "SELECT bucket, user_id AS userId FROM bucket_pairs WHERE user_id = ? ORDER BY bucket",
    )
    .all(userId);
}

/** Pairs that a crash may have left in the engine without a meaning. @param bucket null: of all buckets */
export function unsettledPairs(db: ReadHandle, bucket: string | null): UnsettledPair[] {
  return db
    .prepare<{ bucket: string | null }, UnsettledPair>(
      `SELECT bucket, user_id AS userId, pending_access_key_id AS pending, retired_access_key_id AS retired FROM bucket_pairs
       WHERE (pending_access_key_id IS NOT NULL OR retired_access_key_id IS NOT NULL) AND bucket = coalesce(@bucket, bucket)`,
    )
    .all({ bucket });
}

/**
 * The row names the new pair before the engine knows it, so that nothing unknown is ever left there. False, and nothing is written, for a user
 * who may have none: a viewer, or nobody of the project.
 */
export function notePendingPair(
  db: WriteHandle,
  { bucket, userId }: PairOf,
  accessKeyId: string,
  now: number,
): boolean {
  const { changes } = db
    .prepare(
      `INSERT INTO bucket_pairs (bucket, user_id, pending_access_key_id, created_at)
       SELECT b.name, m.user_id, ?, ? FROM buckets b JOIN project_members m ON m.project_id = b.project_id
       WHERE b.name = ? AND m.user_id = ? AND ${WITH_PAIR}
       ON CONFLICT (bucket, user_id) DO UPDATE SET pending_access_key_id = excluded.pending_access_key_id`,
    )
    .run(accessKeyId, now, bucket, userId);
  return changes > 0;
}

/** The pending pair is the user's from here on, with these rights of the bucket. Answers with the one before it, which the engine has yet to forget. */
export function promotePair(
  db: WriteHandle,
  { bucket, userId }: PairOf,
  rights: string,
): string | null {
  noteRights(db, bucket, rights);
  const row = db
    .prepare<[string, string], { retired: string | null }>(
      `UPDATE bucket_pairs SET retired_access_key_id = access_key_id, access_key_id = pending_access_key_id, pending_access_key_id = NULL
       WHERE bucket = ? AND user_id = ? RETURNING retired_access_key_id AS retired`,
    )
    .get(bucket, userId);
  return row?.retired ?? null;
}

/** The user has no pair from here on. Answers with the one that the engine has yet to forget. */
export function retirePair(db: WriteHandle, { bucket, userId }: PairOf): string | null {
  const row = db
    .prepare<[string, string], { retired: string | null }>(
      `UPDATE bucket_pairs SET retired_access_key_id = access_key_id, access_key_id = NULL
       WHERE bucket = ? AND user_id = ? RETURNING retired_access_key_id AS retired`,
    )
    .get(bucket, userId);
  return row?.retired ?? null;
}

export function reconcilePair(db: WriteHandle, { bucket, userId }: PairOf): void {
  db.prepare(
    "UPDATE bucket_pairs SET pending_access_key_id = NULL, retired_access_key_id = NULL WHERE bucket = ? AND user_id = ?",
  ).run(bucket, userId);
  db.prepare(
    "DELETE FROM bucket_pairs WHERE bucket = ? AND user_id = ? AND access_key_id IS NULL",
  ).run(bucket, userId);
}

/** `ended`: the operation that took the right is on record, and a kill came between that and taking the pair away. */
export type PairToWithdraw = PairOf & { logId: string; why: "ended" | "left" | "unseen" | "duty" };

/** Good pairs of who may have none any more. They stop when the person's platform keys do. */
export function pairsToWithdraw(db: ReadHandle, now: number): PairToWithdraw[] {
  return db
    .prepare<{ unseenBefore: number }, PairToWithdraw>(
      `SELECT * FROM (
         SELECT k.bucket, k.user_id AS userId, b.log_id AS logId, CASE
             WHEN u.disabled_at IS NOT NULL OR m.user_id IS NULL THEN 'ended'
             WHEN u.left_at IS NOT NULL THEN 'left'
             WHEN u.source_kind = 'broker' AND coalesce(u.signed_in_at, 0) <= @unseenBefore THEN 'unseen'
           END AS why
         FROM bucket_pairs k JOIN users u ON u.id = k.user_id JOIN buckets b ON b.name = k.bucket
         LEFT JOIN project_members m ON m.project_id = b.project_id AND m.user_id = k.user_id AND ${WITH_PAIR}
         WHERE k.access_key_id IS NOT NULL
       ) WHERE why IS NOT NULL`,
    )
    .all({ unseenBefore: now - UNSEEN_MS });
}

/** Good pairs of people with a duty on the whole appliance: whether the duty leaves them the data, the policies say. @param userId null: of everybody */
export function pairsBesideDuties(
  db: ReadHandle,
  userId: string | null,
): (PairOf & { logId: string; projectId: string })[] {
  return db
    .prepare<{ userId: string | null }, PairOf & { logId: string; projectId: string }>(
      `SELECT k.bucket, k.user_id AS userId, b.log_id AS logId, b.project_id AS projectId
       FROM bucket_pairs k JOIN buckets b ON b.name = k.bucket
       WHERE coalesce(k.access_key_id, k.pending_access_key_id) IS NOT NULL AND k.user_id = coalesce(@userId, k.user_id)
         AND EXISTS (SELECT 1 FROM role_holders h WHERE h.user_id = k.user_id)
       ORDER BY k.bucket, k.user_id`,
    )
    .all({ userId });
}

/** Buckets that have a pair, and other rights than these. */
export function bucketsWithOtherRights(db: ReadHandle, rights: string): string[] {
  return db
    .prepare<[string], string>(
      `SELECT name FROM buckets WHERE rights IS NOT ? AND EXISTS
         (SELECT 1 FROM bucket_pairs k WHERE k.bucket = name AND k.access_key_id IS NOT NULL) ORDER BY name`,
    )
    .pluck()
    .all(rights);
}

export function noteRights(db: WriteHandle, bucket: string, rights: string): void {
  db.prepare("UPDATE buckets SET rights = ? WHERE name = ?").run(rights, bucket);
}
