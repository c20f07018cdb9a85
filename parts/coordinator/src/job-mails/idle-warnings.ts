import type { ReadHandle } from "../db/open-database.ts";
import { IDLES } from "../kernel/warning-table.ts";

export type IdleWarning = { jobId: string; name: string; warning: string };

/** Jobs that run and were warned that they idle. */
export function idleWarnings(db: ReadHandle): IdleWarning[] {
  return db
    .prepare<[string, string], IdleWarning>(
      `SELECT jobs.id AS jobId, jobs.name, job_warnings.text AS warning FROM job_warnings JOIN jobs ON jobs.id = job_warnings.job_id AND jobs.state = 'RUNNING'
       WHERE job_warnings.site = ? AND job_warnings.topic = ? ORDER BY jobs.sequence`,
    )
    .all(IDLES.site, IDLES.topic);
}
