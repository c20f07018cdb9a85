/** NVFlare's own job of each attempt. Only these lines know the column that holds its id. */
import type { ReadHandle, WriteHandle } from "../../db/open-database.ts";

/** Instants are Unix milliseconds. */
export type NvflareRun = {
  /** As NVFlare names it. */
  nvflareJob: string;
  attempt: number;
  status: "RUNNING" | "FINISHED:COMPLETED" | "FINISHED:ABORTED";
  startedAt: number;
  endedAt: number | null;
};

type RunRow = {
  nvflare_job: string;
  number: number;
  created_at: number;
  ended_at: number | null;
  end_reason: string | null;
};

export class NvflareRuns {
  readonly #ofJob;

  constructor(read: ReadHandle) {
    this.#ofJob = read.prepare<[string], RunRow>(
      `SELECT nvflare_job, number, created_at, ended_at, end_reason FROM attempts
       WHERE job_id = ? AND nvflare_job IS NOT NULL ORDER BY number`,
    );
  }

  /** The first attempt's first; none of a job that has not started. */
  of(jobId: string): NvflareRun[] {
    return this.#ofJob.all(jobId).map((row) => ({
      nvflareJob: row.nvflare_job,
      attempt: row.number,
      status:
        row.ended_at === null
          ? "RUNNING"
          : row.end_reason === null
            ? "FINISHED:COMPLETED"
            : "FINISHED:ABORTED",
      startedAt: row.created_at,
      endedAt: row.ended_at,
    }));
  }
}

/** Notes NVFlare's own job of an attempt, inside a transaction. */
export function keepNvflareRun(db: WriteHandle, attempt: string, nvflareJob: string): void {
  db.prepare("UPDATE attempts SET nvflare_job = ? WHERE id = ?").run(nvflareJob, attempt);
}
