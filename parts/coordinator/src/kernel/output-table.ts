import type { WriteHandle } from "../db/open-database.ts";
import type { JobRow, MemberRow } from "./rows.ts";

export type UploadRow = {
  id: string;
  job_id: string;
  member_id: string;
  generation: number;
  counter: number;
  bucket: string;
  key: string;
  s3_upload_id: string | null;
  is_log: number;
  size_bytes: number;
  sha256: string;
  part_size_bytes: number;
  part_count: number;
  state: "OPEN" | "COMPLETING" | "COMPLETED" | "ABORTED";
  etags: string | null;
  version_id: string | null;
  etag: string | null;
  opened_at: number;
  closed_at: number | null;
};

/** What a job left at one key. */
export type JobOutput = {
  key: string;
  uploadId: string;
  versionId: string;
  sizeBytes: number;
  sha256: string;
  storedAt: number;
};

/** Uploads, one row for each multipart that the coordinator ever opened for a member. */
export class OutputTable {
  readonly #db: WriteHandle;
  readonly #byId;
  readonly #stored;
  readonly #bytes;
  readonly #forgetStoredLogs;
  readonly #keep;
  readonly #kept;
  readonly #isKept;
  readonly #ofEarlier;
  readonly #setHidden;
  readonly #forgetKept;
  readonly #isRead;

  constructor(db: WriteHandle) {
    this.#db = db;
    this.#byId = db.prepare<[string], UploadRow>("SELECT * FROM uploads WHERE id = ?");
    // By job and key: a member has few uploads of one key, and many of rounds.
    this.#stored = db
      .prepare<[string, string, string], number>(
        `SELECT 1 FROM uploads INDEXED BY uploads_of_job
         WHERE job_id = ? AND member_id = ? AND key = ? AND state = 'COMPLETED' LIMIT 1`,
      )
      .pluck();
    this.#bytes = db
      .prepare<[string], number>(
        "SELECT coalesce(sum(size_bytes), 0) FROM uploads WHERE job_id = ?",
      )
      .pluck();
    this.#keep = db.prepare(
      `INSERT INTO job_outputs (job_id, key, upload_id) VALUES (?, ?, ?)
       ON CONFLICT (job_id, key) DO UPDATE SET upload_id = excluded.upload_id, is_hidden = 0`,
    );
    this.#kept = db.prepare<[string], JobOutput>(
      `SELECT uploads.key, uploads.id AS uploadId, version_id AS versionId, size_bytes AS sizeBytes, sha256, closed_at AS storedAt
       FROM job_outputs JOIN uploads ON uploads.id = upload_id WHERE job_outputs.job_id = ? ORDER BY uploads.key`,
    );
    this.#isKept = db
      .prepare<[string, string], number>("SELECT 1 FROM job_outputs WHERE job_id = ? AND key = ?")
      .pluck();
    this.#ofEarlier = db
      .prepare<[string, string, string], string>(
        `SELECT upload_id FROM jobs JOIN job_outputs ON job_outputs.job_id = jobs.id
         WHERE bucket = ? AND output_root = ? AND jobs.id <> ? AND is_hidden = 0`,
      )
      .pluck();
    this.#setHidden = db.prepare<[string]>(
      "UPDATE job_outputs SET is_hidden = 1 WHERE upload_id = ?",
    );
    this.#forgetKept = db.prepare<[string]>("DELETE FROM job_outputs WHERE job_id = ?");
    this.#isRead = db
      .prepare<[{ id: string }], number>(
        `SELECT 1 FROM uploads JOIN job_inputs ON job_inputs.key = uploads.key AND job_inputs.version_id = uploads.version_id
         JOIN jobs ON jobs.id = job_inputs.job_id AND coalesce(job_inputs.bucket, jobs.bucket) = uploads.bucket AND ended_at IS NULL WHERE uploads.id = @id
         UNION ALL SELECT 1 FROM uploads JOIN hub_files ON hub_files.key = uploads.key AND hub_files.version_id = uploads.version_id
         JOIN hub_models ON hub_models.id = model_id AND hub_models.bucket = uploads.bucket WHERE uploads.id = @id LIMIT 1`,
      )
      .pluck();
    this.#forgetStoredLogs = db.prepare<[string]>(
      "DELETE FROM uploads WHERE member_id = ? AND state = 'COMPLETED' AND is_log = 1",
    );
  }

  get(id: string): UploadRow | undefined {
    return this.#byId.get(id);
  }

  /** The member has stored what belongs at this key below the job's output root. */
  hasStored(
    job: Pick<JobRow, "id" | "output_root">,
    member: Pick<MemberRow, "id">,
    key: string,
  ): boolean {
    return this.#stored.get(job.id, member.id, `${job.output_root}/${key}`) === 1;
  }

  bytesOfJob(jobId: string): number {
    return this.#bytes.get(jobId) ?? 0;
  }

  /** What the upload made is the job's newest at its key: its version stays as long as the job does. */
  keep({ job_id, key, id }: Pick<UploadRow, "job_id" | "key" | "id">): void {
    this.#keep.run(job_id, key, id);
  }

  /** By key. */
  keptOf(jobId: string): JobOutput[] {
    return this.#kept.all(jobId);
  }

  /** The job left something at this key. */
  isKept(jobId: string, key: string): boolean {
    return this.#isKept.get(jobId, key) === 1;
  }

  /** Uploads whose objects other jobs left in this job's folder, and nothing hides yet. */
  ofEarlierJobs(job: Pick<JobRow, "id" | "bucket" | "output_root">): string[] {
    return this.#ofEarlier.all(job.bucket, job.output_root, job.id);
  }

  setHidden(uploadId: string): void {
    this.#setHidden.run(uploadId);
  }

  /** The job's versions are nobody's any more; answers what they were. */
  forgetKept(jobId: string): JobOutput[] {
    const kept = this.keptOf(jobId);
    this.#forgetKept.run(jobId);
    return kept;
  }

  /** A living job has what the upload made among its inputs, or a model of the hub among its files. */
  isRead(uploadId: string): boolean {
    return this.#isRead.get({ id: uploadId }) === 1;
  }

  insert(upload: UploadRow): void {
    const columns = Object.keys(upload);
    this.#db
      .prepare(
        `INSERT INTO uploads (${columns.join(", ")}) VALUES (${columns.map((column) => `@${column}`).join(", ")})`,
      )
      .run(upload);
  }

  /** Earlier tries of the same member at the same object, still open; they are aborted by whoever asks. */
  openFor(memberId: string, key: string): UploadRow[] {
    return this.#db
      .prepare<[string, string], UploadRow>(
        "SELECT * FROM uploads WHERE member_id = ? AND key = ? AND state = 'OPEN'",
      )
      .all(memberId, key);
  }

  /** A member sends its log in order: who opens the next chunk has been answered for those before it. */
  forgetStoredLogs(memberId: string): void {
    this.#forgetStoredLogs.run(memberId);
  }

  /** Uploads that a crash may have left between our row and the object store. */
  unfinished(): UploadRow[] {
    return this.#db
      .prepare<[], UploadRow>(
        `SELECT * FROM uploads WHERE state IN ('OPEN', 'COMPLETING') AND (state = 'COMPLETING' OR s3_upload_id IS NULL)`,
      )
      .all();
  }

  /** The store's ids of unfinished uploads of this object, whoever's they are; null for one that the store is being asked to open. */
  unfinishedOf({ bucket, key }: Pick<UploadRow, "bucket" | "key">): (string | null)[] {
    return this.#db
      .prepare<[string, string], string | null>(
        "SELECT s3_upload_id FROM uploads WHERE bucket = ? AND key = ? AND state IN ('OPEN', 'COMPLETING')",
      )
      .pluck()
      .all(bucket, key);
  }

  /** Compare-and-set on the state; false when it has moved on. */
  move(
    id: string,
    from: UploadRow["state"],
    to: UploadRow["state"],
    change: Partial<
      Pick<UploadRow, "s3_upload_id" | "etags" | "version_id" | "etag" | "closed_at">
    > = {},
  ): boolean {
    const assignments = Object.keys(change).map((column) => `, ${column} = @${column}`);
    const { changes } = this.#db
      .prepare(
        `UPDATE uploads SET state = @to${assignments.join("")} WHERE id = @id AND state = @from`,
      )
      .run({ ...change, id, from, to });
    return changes === 1;
  }
}
