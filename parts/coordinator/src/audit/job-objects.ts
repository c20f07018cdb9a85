/** Which objects of the store are a job's: an auditor asks who read and wrote them. */
import type { ReadHandle } from "../db/open-database.ts";
import type { AuditedObjects } from "./audit-search.ts";

/** @property sameFolder other jobs that stored into the same folder; what was read and written there is also theirs */
export type JobObjects = AuditedObjects & { userId: string; sameFolder: string[] };

type JobRow = { bucket: string; outputRoot: string; userId: string };
type InputRow = { bucket: string; key: string; versionId: string };

/**
 * The job's folder with its logs and rounds, whatever lay there at any time; and those of its inputs that lie elsewhere, each as it stands in
 * the log: by its path, and by path and version, as it is staged.
 * @returns null for a job that is not known
 */
export function findJobObjects(db: ReadHandle, jobId: string): JobObjects | null {
  const job = db
    .prepare<[string], JobRow>(
      "SELECT bucket, output_root AS outputRoot, user_id AS userId FROM jobs WHERE id = ?",
    )
    .get(jobId);
  if (job === undefined) return null;
  const { bucket, outputRoot, userId } = job;
  const folders = [outputRoot, `logs/${jobId}`, `ckpt/${jobId}`].map(
    (folder) => `${bucket}/${folder}/`,
  );
  const inputs = db
    .prepare<[string], InputRow>(
      `SELECT coalesce(job_inputs.bucket, jobs.bucket) AS bucket, key, version_id AS versionId FROM job_inputs JOIN jobs ON jobs.id = job_id
       WHERE job_id = ? ORDER BY key`,
    )
    .all(jobId)
    .filter((input) => input.bucket !== bucket || !input.key.startsWith(`${outputRoot}/`));
  const sameFolder = db
    .prepare<[string, string, string], string>(
      "SELECT id FROM jobs WHERE bucket = ? AND output_root = ? AND id <> ? ORDER BY sequence",
    )
    .pluck()
    .all(bucket, outputRoot, jobId);
  const paths = inputs.flatMap((input) => [
    `${input.bucket}/${input.key}`,
    `${input.bucket}/${input.key}?versionId=${input.versionId}`,
  ]);
  return { folders, paths, userId, sameFolder };
}
