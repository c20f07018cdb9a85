import type { WriteHandle } from "../db/open-database.ts";
import type { CommittedRound } from "./workload.ts";

/** Kept of a living job: the newest, and the one before it. */
const KEPT = 2;

type Row = { attempt_id: string; round: number; model_upload: string; manifest_upload: string };

/** Rounds that a later attempt can go on from. */
export class CheckpointTable {
  readonly #ofJob;
  readonly #insert;
  readonly #delete;
  readonly #stored;

  constructor(db: WriteHandle) {
    this.#ofJob = db.prepare<[string], Row>(
      `SELECT attempt_id, round, model_upload, manifest_upload FROM checkpoints WHERE job_id = ?
       ORDER BY round DESC, committed_at DESC`,
    );
    this.#insert = db.prepare(
      `INSERT INTO checkpoints (job_id, attempt_id, round, model_upload, manifest_upload, committed_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (attempt_id, round) DO NOTHING`,
    );
    this.#delete = db.prepare("DELETE FROM checkpoints WHERE attempt_id = ? AND round = ?");
    // `0` follows `/`: everything below the folder.
    this.#stored = db
      .prepare<[string, string, string], string>(
        "SELECT id FROM uploads WHERE job_id = ? AND key > ? AND key < ? AND state = 'COMPLETED'",
      )
      .pluck();
  }

  /** The newest first. */
  ofJob(jobId: string): CommittedRound[] {
    return this.#ofJob
      .all(jobId)
      .map(({ round, model_upload }) => ({ round, modelUpload: model_upload }));
  }

  /**
   * What older attempts have of this round or a later one, it runs again: kept beside the new one, that would leave no earlier round to go on from.
   * @returns uploads whose objects are not needed any more
   */
  commit(
    jobId: string,
    attemptId: string,
    round: number,
    uploads: { model: string; manifest: string },
    committedAt: number,
  ): string[] {
    this.#insert.run(jobId, attemptId, round, uploads.model, uploads.manifest, committedAt);
    const all = this.#ofJob.all(jobId);
    const superseded = all.filter((row) => row.attempt_id !== attemptId && row.round >= round);
    const old = all.filter((row) => !superseded.includes(row)).slice(KEPT);
    return this.#forget([...superseded, ...old]);
  }

  /** Of a job that has ended. @returns everything that was ever stored for it to go on from, committed or not */
  forgetAll(jobId: string): string[] {
    this.#forget(this.#ofJob.all(jobId));
    return this.#stored.all(jobId, `ckpt/${jobId}/`, `ckpt/${jobId}0`);
  }

  #forget(old: readonly Row[]): string[] {
    for (const { attempt_id, round } of old) this.#delete.run(attempt_id, round);
    return old.flatMap(({ model_upload, manifest_upload }) => [manifest_upload, model_upload]);
  }
}
