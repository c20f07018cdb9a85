/** Rows of jobs that made way, and of whom to tell. Told is whoever wants a mail of the job's end; how far was told is one number. */
import { Meta } from "../db/meta.ts";
import type { ReadHandle, WriteHandle } from "../db/open-database.ts";
import type { MadeWayMail } from "./decisions/made-way-mail.ts";

/** One decision, in their order. @property isLeaving it has not let go of its workers, so nobody knows yet what stays */
export type MadeWayRow = Omit<MadeWayMail, "project" | "expectedStart"> & {
  id: number;
  byJob: string;
  isLeaving: boolean;
  isWaiting: boolean;
};

/** Null before anything was ever told. */
export function waysToldUpTo(db: ReadHandle): number | null {
  const value = db
    .prepare<[], string>("SELECT value FROM meta WHERE name = 'ways-told'")
    .pluck()
    .get();
  return value === undefined ? null : Number(value);
}

export function noteWaysTold(db: WriteHandle, upTo: number): void {
  new Meta(db).set("ways-told", upTo);
}

export function newestWay(db: ReadHandle): number {
  return db.prepare<[], number>("SELECT coalesce(max(id), 0) FROM preemptions").pluck().get()!;
}

/** One that a later decision about the same job follows is not waiting: the later one is told. */
export function waysAfter(db: ReadHandle, after: number): MadeWayRow[] {
  return db
    .prepare<
      [number],
      Omit<MadeWayRow, "isLeaving" | "isWaiting"> & { state: string; isLast: number }
    >(
      `SELECT way.id, way.victim_job AS jobId, jobs.name, jobs.state, way.job_id AS byJob,
         CASE WHEN jobs.resumable = 1 THEN (SELECT max(round) FROM checkpoints WHERE checkpoints.job_id = jobs.id) END AS afterRound,
         way.id = (SELECT max(id) FROM preemptions WHERE victim_job = way.victim_job) AS isLast
       FROM preemptions AS way JOIN jobs ON jobs.id = way.victim_job
       WHERE way.id > ? ORDER BY way.id LIMIT 100`,
    )
    .all(after)
    .map(({ state, isLast, ...way }) => ({
      ...way,
      isLeaving: state === "PREEMPTING",
      isWaiting: isLast === 1 && (state === "QUEUED" || state === "HELD"),
    }));
}

/** People who are still in the job's project and want to hear of it, each with the name of the other project where it is the own, too. */
export function readersOfWay(
  db: ReadHandle,
  { jobId, byJob }: Pick<MadeWayRow, "jobId" | "byJob">,
): { userId: string; project: string | null }[] {
  return db
    .prepare<{ jobId: string; byJob: string }, { userId: string; project: string | null }>(
      `SELECT users.id AS userId, projects.name AS project
       FROM jobs JOIN project_members AS member ON member.project_id = jobs.project_id JOIN users ON users.id = member.user_id
         LEFT JOIN jobs AS other ON other.id = @byJob
         LEFT JOIN project_members AS own ON own.user_id = users.id AND own.project_id = other.project_id
         LEFT JOIN projects ON projects.id = own.project_id
       WHERE jobs.id = @jobId AND users.disabled_at IS NULL AND users.left_at IS NULL
         AND (EXISTS (SELECT 1 FROM job_mails WHERE job_mails.job_id = jobs.id AND job_mails.user_id = users.id)
           OR (jobs.user_id = users.id AND EXISTS (SELECT 1 FROM job_mails_of_all AS wish WHERE wish.user_id = users.id)))
       ORDER BY users.id`,
    )
    .all({ jobId, byJob });
}
