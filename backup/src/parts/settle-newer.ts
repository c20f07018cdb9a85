/**
 * A database that is newer than the rest of the restored appliance. What it says of Keycloak and of the object store is taken back to the backup, so that
 * the coordinator makes again what is missing there: accounts for people, and buckets. A key pair that the store does not know, or knows for one that was
 * replaced, is void; its owner gets another one.
 */
import Database from "better-sqlite3";

const STEPS = [
  `UPDATE users SET subject = (SELECT o.subject FROM backup.users o WHERE o.id = users.id)
   WHERE kind = 'person' AND source IS NULL`,
  `UPDATE buckets SET made_at = NULL, rights = NULL
   WHERE name NOT IN (SELECT name FROM backup.buckets WHERE made_at IS NOT NULL)`,
  // The coordinator takes what is retired from the store when it starts.
  `UPDATE bucket_pairs SET pending_access_key_id = NULL, access_key_id = NULL,
     retired_access_key_id = coalesce(
       (SELECT o.access_key_id FROM backup.bucket_pairs o WHERE o.bucket = bucket_pairs.bucket AND o.user_id = bucket_pairs.user_id),
       access_key_id, pending_access_key_id)
   WHERE access_key_id IS NOT
     (SELECT o.access_key_id FROM backup.bucket_pairs o WHERE o.bucket = bucket_pairs.bucket AND o.user_id = bucket_pairs.user_id)`,
  `INSERT INTO bucket_pairs (bucket, user_id, retired_access_key_id, created_at)
   SELECT o.bucket, o.user_id, o.access_key_id, o.created_at FROM backup.bucket_pairs o
   WHERE o.access_key_id IS NOT NULL
     AND NOT EXISTS (SELECT 1 FROM bucket_pairs n WHERE n.bucket = o.bucket AND n.user_id = o.user_id)
     AND EXISTS (SELECT 1 FROM buckets b WHERE b.name = o.bucket) AND EXISTS (SELECT 1 FROM users u WHERE u.id = o.user_id)`,
] as const;

/**
 * @param newer the coordinator's, which nobody has open
 * @param ofBackup of the same schema
 */
export function settleNewer(newer: string, ofBackup: string): void {
  const db = new Database(newer, { fileMustExist: true });
  try {
    db.pragma("trusted_schema = OFF");
    db.prepare("ATTACH ? AS backup").run(ofBackup);
    db.transaction(() => {
      for (const step of STEPS) db.exec(step);
    })();
    db.exec("DETACH backup");
    db.pragma("wal_checkpoint(TRUNCATE)");
  } finally {
    db.close();
  }
}
