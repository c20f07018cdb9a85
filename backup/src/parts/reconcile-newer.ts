/**
 * A database that is newer than the rest of the restored appliance. What it says of Keycloak and of the object store is taken back to the backup, so that
 * the coordinator makes again what is missing there: accounts for people, and buckets. A key pair that the store does not know, or knows for one that was
 * replaced, is void; its owner gets another one. A job goes on from a model that came back, not from one that was stored since.
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
  `DELETE FROM checkpoints WHERE model_upload NOT IN (SELECT id FROM backup.uploads WHERE state = 'COMPLETED')
     OR manifest_upload NOT IN (SELECT id FROM backup.uploads WHERE state = 'COMPLETED')`,
  // Those that later rounds have replaced since.
  `INSERT OR IGNORE INTO checkpoints SELECT o.* FROM backup.checkpoints o
   WHERE EXISTS (SELECT 1 FROM jobs j WHERE j.id = o.job_id AND j.ended_at IS NULL)
     AND EXISTS (SELECT 1 FROM attempts a WHERE a.id = o.attempt_id)
     AND (SELECT count(*) FROM uploads u WHERE u.id IN (o.model_upload, o.manifest_upload)) = 2`,
  `DELETE FROM outbox WHERE kind = 'remove-version'
     AND upload_id IN (SELECT model_upload FROM checkpoints UNION SELECT manifest_upload FROM checkpoints)`,
] as const;

/**
 * @param newer the coordinator's, which nobody has open
 * @param ofBackup of the same schema
 */
export function reconcileNewer(newer: string, ofBackup: string): void {
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
