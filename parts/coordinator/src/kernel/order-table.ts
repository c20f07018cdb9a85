import type { AfterWhen } from "@resontech/contracts/http-tasks";
import type { JobState } from "@resontech/contracts/job-states";
import type { WriteHandle } from "../db/open-database.ts";
import type { AwaitedJob } from "./decisions/job-order.ts";

/** Which jobs wait for which. A row stays after its wait is over: it says why a job started, or ended, when it did. */
export class OrderTable {
  readonly #add;
  readonly #of;
  readonly #settle;
  readonly #open;

  constructor(db: WriteHandle) {
    this.#add = db.prepare<[string, string, AfterWhen, string | null]>(
      "INSERT INTO job_order (job_id, after_job, until, ended_as) VALUES (?, ?, ?, ?)",
    );
    this.#of = db.prepare<[string], AwaitedJob>(
      `SELECT after_job AS job, coalesce(jobs.name, '') AS name, until AS "when", ended_as AS endedAs
       FROM job_order LEFT JOIN jobs ON jobs.id = after_job WHERE job_id = ? ORDER BY jobs.sequence, after_job`,
    );
    this.#settle = db.prepare<
      [{ jobId: string; endedAs: string; most: number }],
      { job: string; sequence: number | null }
    >(
      `UPDATE job_order SET ended_as = @endedAs WHERE after_job = @jobId AND ended_as IS NULL AND job_id IN (
         SELECT job_id FROM job_order JOIN jobs ON jobs.id = job_id WHERE after_job = @jobId AND ended_as IS NULL
         ORDER BY jobs.sequence LIMIT @most)
       RETURNING job_id AS job, (SELECT sequence FROM jobs WHERE id = job_id) AS sequence`,
    );
    this.#open = db.prepare<[], { job: string; state: JobState | null }>(
      `SELECT DISTINCT after_job AS job, jobs.state FROM job_order LEFT JOIN jobs ON jobs.id = after_job
       WHERE ended_as IS NULL`,
    );
  }

  /** Inside a transaction. */
  add(jobId: string, awaited: readonly AwaitedJob[]): void {
    for (const { job, when, endedAs } of awaited) this.#add.run(jobId, job, when, endedAs);
  }

  /** What a job was to start after, the oldest first. */
  of(jobId: string): AwaitedJob[] {
    return this.#of.all(jobId);
  }

  /** Inside a transaction. @returns the jobs that waited for it, no more than so many of them, the oldest first */
  settle(jobId: string, endedAs: JobState | "gone", most: number): string[] {
    return this.#settle
      .all({ jobId, endedAs, most })
      .toSorted((a, b) => (a.sequence ?? 0) - (b.sequence ?? 0))
      .map(({ job }) => job);
  }

  /** Jobs that are waited for, each with its state; null where its row is gone. */
  awaited(): { job: string; state: JobState | null }[] {
    return this.#open.all();
  }
}
