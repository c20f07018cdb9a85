import type { WriteHandle } from "../db/open-database.ts";

/** The newest committed model of a job that ended without success, and its copy among the outputs. */
export type LastModel = {
  jobId: string;
  round: number;
  checkpointUpload: string;
  /** Null until the copy stands. */
  outputUpload: string | null;
  attempts: number;
};

const COLUMNS =
  "job_id AS jobId, round, checkpoint_upload AS checkpointUpload, output_upload AS outputUpload, attempts";

/** Models that stay of jobs without success: one row for each, decided with the end of its job. */
export class LastModelTable {
  readonly #insert;
  readonly #get;
  readonly #due;
  readonly #stored;
  readonly #defer;
  readonly #forget;
  readonly #isFolderTaken;

  constructor(db: WriteHandle) {
    this.#insert = db.prepare(
      "INSERT INTO last_models (job_id, round, checkpoint_upload) VALUES (?, ?, ?) ON CONFLICT (job_id) DO NOTHING",
    );
    this.#get = db.prepare<[string], LastModel>(
      `SELECT ${COLUMNS} FROM last_models WHERE job_id = ?`,
    );
    this.#due = db.prepare<[number], LastModel>(
      `SELECT ${COLUMNS} FROM last_models WHERE output_upload IS NULL AND not_before <= ? ORDER BY not_before LIMIT 100`,
    );
    this.#stored = db.prepare("UPDATE last_models SET output_upload = ? WHERE job_id = ?");
    this.#defer = db.prepare(
      "UPDATE last_models SET attempts = attempts + 1, not_before = ? WHERE job_id = ?",
    );
    this.#forget = db.prepare("DELETE FROM last_models WHERE job_id = ?");
    this.#isFolderTaken = db
      .prepare<[string], number>(
        `SELECT 1 FROM jobs JOIN jobs AS later ON later.bucket = jobs.bucket AND later.output_root = jobs.output_root
         WHERE jobs.id = ? AND later.sequence > jobs.sequence AND later.attempts_made > 0 LIMIT 1`,
      )
      .pluck();
  }

  /** Decides that this committed model stays. */
  keep(jobId: string, round: number, checkpointUpload: string): void {
    this.#insert.run(jobId, round, checkpointUpload);
  }

  of(jobId: string): LastModel | undefined {
    return this.#get.get(jobId);
  }

  /** Whose copies are still to be made. */
  due(now: number): LastModel[] {
    return this.#due.all(now);
  }

  stored(jobId: string, outputUpload: string): void {
    this.#stored.run(outputUpload, jobId);
  }

  defer(jobId: string, untilMs: number): void {
    this.#defer.run(untilMs, jobId);
  }

  forget(jobId: string): void {
    this.#forget.run(jobId);
  }

  /** A later job of the same folder has begun: what this one would leave there would lie beside that one's outputs. */
  isFolderTaken(jobId: string): boolean {
    return this.#isFolderTaken.get(jobId) === 1;
  }
}
