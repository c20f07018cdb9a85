/** Which projects' outputs leave by approval alone, and which versions a person may read for a while. */
import type { ReadHandle, WriteHandle } from "../db/open-database.ts";

/** @property until Unix milliseconds */
export type ExportGrant = {
  approvalId: string;
  userId: string;
  bucket: string;
  key: string;
  versionId: string;
  until: number;
};

/** Tells whether outputs of a bucket leave by approval alone; false for a bucket of no project. */
export function leavesByApproval(db: ReadHandle, bucket: string): boolean {
  return (
    db
      .prepare<[string], number>(
        "SELECT p.exports_by_approval FROM buckets b JOIN projects p ON p.id = b.project_id WHERE b.name = ?",
      )
      .pluck()
      .get(bucket) === 1
  );
}

export function setLeavesByApproval(db: WriteHandle, projectId: string, byApproval: boolean): void {
  db.prepare("UPDATE projects SET exports_by_approval = ? WHERE id = ?").run(
    Number(byApproval),
    projectId,
  );
}

export function grantExport(db: WriteHandle, grant: ExportGrant): void {
  db.prepare(
    `INSERT OR REPLACE INTO export_grants (approval_id, user_id, bucket, key, version_id, until)
     VALUES (@approvalId, @userId, @bucket, @key, @versionId, @until)`,
  ).run(grant);
}

/** Versions of an object that were released to a person and may be read now. */
export function releasedVersions(
  db: ReadHandle,
  { bucket, key, userId }: Pick<ExportGrant, "bucket" | "key" | "userId">,
  now: number,
): string[] {
  return db
    .prepare<[string, string, string, number], string>(
      "SELECT DISTINCT version_id FROM export_grants WHERE bucket = ? AND key = ? AND user_id = ? AND until > ? LIMIT 64",
    )
    .pluck()
    .all(bucket, key, userId, now);
}

export function forgetOverGrants(db: WriteHandle, now: number): void {
  db.prepare("DELETE FROM export_grants WHERE until <= ?").run(now);
}
