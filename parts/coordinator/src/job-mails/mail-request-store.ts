/** Rows of who wants to hear of the end of which job. */
import type { JobState } from "@resontech/contracts/job-states";
import type { ReadHandle, WriteHandle } from "../db/open-database.ts";
import { shownKind } from "../kernel/decisions/stored-kind.ts";

/** @property all of every job of the own @property jobs single ones that have not been told of */
export type JobMailRequests = { all: boolean; jobs: string[] };

/** A mail whose job has ended. */
export type DueMail = {
  userId: string;
  jobId: string;
  kind: string;
  name: string;
  state: JobState;
  tries: number;
};

/** More single wishes than anybody reads the mails of. */
export const MOST_MAIL_REQUESTS = 1_000;

export function mailRequestsOf(db: ReadHandle, userId: string): JobMailRequests {
  const all = db.prepare("SELECT 1 FROM job_mails_of_all WHERE user_id = ?").get(userId);
  const jobs = db
    .prepare<[string], string>("SELECT job_id FROM job_mails WHERE user_id = ? ORDER BY job_id")
    .pluck()
    .all(userId);
  return { all: all !== undefined, jobs };
}

export function requestMailOfJob(
  db: WriteHandle,
  userId: string,
  jobId: string,
  isWanted: boolean,
): void {
  const sql = isWanted
    ? "INSERT OR IGNORE INTO job_mails (user_id, job_id) VALUES (?, ?)"
    : "DELETE FROM job_mails WHERE user_id = ? AND job_id = ?";
  db.prepare(sql).run(userId, jobId);
}

/** What ended before is not told. */
export function requestMailOfAll(
  db: WriteHandle,
  userId: string,
  isWanted: boolean,
  now: number,
): void {
  if (isWanted)
    db.prepare("INSERT OR IGNORE INTO job_mails_of_all (user_id, since) VALUES (?, ?)").run(
      userId,
      now,
    );
  else db.prepare("DELETE FROM job_mails_of_all WHERE user_id = ?").run(userId);
}

/** Makes wishes for all into wishes for the jobs that ended since the last time. */
export function spreadMailRequests(db: WriteHandle, now: number): void {
  db.prepare(
    `INSERT OR IGNORE INTO job_mails (user_id, job_id)
     SELECT jobs.user_id, jobs.id FROM job_mails_of_all AS wish JOIN jobs ON jobs.user_id = wish.user_id
     WHERE jobs.ended_at > wish.since AND jobs.ended_at <= ?`,
  ).run(now);
  db.prepare("UPDATE job_mails_of_all SET since = ? WHERE since < ?").run(now, now);
}

/** Lists mails that are due, to people who are still in the job's project: who left it, or the appliance, hears nothing more. */
export function dueMails(db: ReadHandle, now: number): DueMail[] {
  return db
    .prepare<[number], DueMail>(
      `SELECT job_mails.user_id AS userId, jobs.id AS jobId, jobs.kind, jobs.name, jobs.state, tries
       FROM job_mails JOIN jobs ON jobs.id = job_mails.job_id JOIN users ON users.id = job_mails.user_id
         JOIN project_members AS member ON member.project_id = jobs.project_id AND member.user_id = users.id
       WHERE jobs.ended_at IS NOT NULL AND due_at <= ? AND users.disabled_at IS NULL AND users.left_at IS NULL
       ORDER BY due_at LIMIT 100`,
    )
    .all(now)
    .map((mail) => ({ ...mail, kind: shownKind(mail.kind) }));
}

export function postpone(db: WriteHandle, { userId, jobId }: DueMail, dueAt: number): void {
  db.prepare(
    "UPDATE job_mails SET tries = tries + 1, due_at = ? WHERE user_id = ? AND job_id = ?",
  ).run(...[dueAt, userId, jobId]);
}
