/** Files that jobs left, as the object store has them: what a deployment may take for its model. */
import type { ReadHandle } from "../db/open-database.ts";
import type { ObjectVersion } from "../storage/object-store.ts";

export class JobModels {
  readonly #find;

  constructor(read: ReadHandle) {
    this.#find = read.prepare<[string, string], ObjectVersion & { sha256: string }>(
      `SELECT uploads.key, version_id AS versionId, size_bytes AS sizeBytes, etag, sha256
       FROM job_outputs JOIN uploads ON uploads.id = upload_id
       WHERE job_outputs.job_id = ? AND job_outputs.key = ? AND version_id IS NOT NULL AND etag IS NOT NULL`,
    );
  }

  /** What the job itself stored at this key, whatever lies there now; null where it stored nothing. */
  find(jobId: string, key: string): (ObjectVersion & { sha256: string }) | null {
    return this.#find.get(jobId, key) ?? null;
  }
}
