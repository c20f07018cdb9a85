import type { JobOrderReply } from "@resontech/contracts/http-jobs";
import type { ReadHandle } from "../db/open-database.ts";
import { Prepared } from "../db/prepared.ts";
import { type RowFilter, whereOf } from "../db/row-filter.ts";

type OrderedJob = JobOrderReply["after"][number];

/** What stands before and behind a job, as far as somebody may read it. */
export class JobNeighbours {
  readonly #prepared: Prepared;

  constructor(db: ReadHandle) {
    this.#prepared = new Prepared(db);
  }

  of(jobId: string, reach: RowFilter): JobOrderReply {
    return {
      after: this.#jobs("after_job", "job_id", jobId, reach),
      before: this.#jobs("job_id", "after_job", jobId, reach),
    };
  }

  #jobs(
    theirs: "after_job" | "job_id",
    own: "after_job" | "job_id",
    jobId: string,
    reach: RowFilter,
  ): OrderedJob[] {
    const { sql, values } = whereOf(reach, {
      projectId: "jobs.project_id",
      userId: "jobs.user_id",
    });
    return this.#prepared.all<OrderedJob>(
      `SELECT jobs.id AS job, jobs.name, until AS "when", jobs.state FROM job_order
       JOIN jobs ON jobs.id = job_order.${theirs} WHERE job_order.${own} = ? AND (${sql}) ORDER BY jobs.sequence`,
      ...[jobId, ...values],
    );
  }
}
