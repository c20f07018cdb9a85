/** Rows of schedules and of their runs. Instants in Unix milliseconds. */
import type { PauseReason, RunOutcome } from "@resontech/contracts/http-schedules";
import { TERMINAL_JOB_STATES } from "@resontech/contracts/job-states";
import { ApiError } from "../api-error.ts";
import type { ReadHandle, WriteHandle } from "../db/open-database.ts";
import { type RowFilter, whereOf } from "../db/row-filter.ts";

/** @property keyId the platform key that made it @property task the body of a submission, JSON @property jobId the job whose versions are submitted again */
export type ScheduleRow = {
  id: string;
  projectId: string;
  userId: string;
  keyId: string | null;
  name: string;
  cron: string;
  timeZone: string;
  task: string | null;
  jobId: string | null;
  nextAt: number | null;
  pausedBy: PauseReason | null;
  createdAt: number;
};
/** @property code of the error catalogue, or `overlap`; null of a run that was submitted */
export type RunRow = {
  dueAt: number;
  outcome: RunOutcome;
  code: string | null;
  jobId: string | null;
};
export type ListedSchedule = ScheduleRow & { owner: string; lastRun: RunRow | null };
type AnyHandle = Pick<WriteHandle, "prepare">;

const COLUMNS = `s.id, s.project_id AS projectId, s.user_id AS userId, s.key_id AS keyId, s.name, s.cron, s.time_zone AS timeZone, s.task,
  s.job_id AS jobId, s.next_at AS nextAt, s.paused_by AS pausedBy, s.created_at AS createdAt`;
const RUN_COLUMNS = "due_at AS dueAt, outcome, code, job_id AS jobId";
/** More runs than anybody reads are not kept. */
const KEPT_RUNS = 100;
/** What one look carries out; the next ones come with the next look. */
const MOST_DUE = 100;
/** More of one project are a fault of a program. */
const MAX_OF_PROJECT = 100;
const ENDED = TERMINAL_JOB_STATES.map((state) => `'${state}'`).join(", ");

/** Inside a transaction. @throws ApiError too_many_schedules */
export function insertSchedule(db: WriteHandle, row: ScheduleRow): void {
  const there = db
    .prepare<[string], number>("SELECT count(*) FROM schedules WHERE project_id = ?")
    .pluck()
    .get(row.projectId);
  if ((there ?? 0) >= MAX_OF_PROJECT)
    throw new ApiError("too_many_schedules", `the project has ${MAX_OF_PROJECT} schedules`);
  db.prepare(
    `INSERT INTO schedules (id, project_id, user_id, key_id, name, cron, time_zone, task, job_id, next_at, paused_by, created_at)
     VALUES (@id, @projectId, @userId, @keyId, @name, @cron, @timeZone, @task, @jobId, @nextAt, @pausedBy, @createdAt)`,
  ).run(row);
}

export function findSchedule(db: AnyHandle, id: string): ScheduleRow | null {
  const found = db
    .prepare<[string], ScheduleRow>(`SELECT ${COLUMNS} FROM schedules s WHERE s.id = ?`)
    .get(id);
  return found ?? null;
}

/** By name. @param project of this one alone */
export function listSchedules(
  db: ReadHandle,
  reach: RowFilter,
  project?: string,
): ListedSchedule[] {
  const { sql, values } = whereOf(reach, { projectId: "s.project_id", userId: "s.user_id" });
  return project === undefined
    ? listedWhere(db, `(${sql})`, values)
    : listedWhere(db, `(${sql}) AND s.project_id = ?`, [...values, project]);
}

export function listedSchedule(db: ReadHandle, id: string): ListedSchedule | null {
  return listedWhere(db, "s.id = ?", [id])[0] ?? null;
}

function listedWhere(db: ReadHandle, where: string, values: readonly string[]): ListedSchedule[] {
  return db
    .prepare<string[], ScheduleRow & { owner: string }>(
      `SELECT ${COLUMNS}, u.username AS owner FROM schedules s JOIN users u ON u.id = s.user_id
       WHERE ${where} ORDER BY s.name, s.created_at, s.id`,
    )
    .all(...values)
    .map((row) => ({ ...row, lastRun: runsOf(db, row.id, 1)[0] ?? null }));
}

/** The one that is due longest first. */
export function dueSchedules(db: ReadHandle, now: number): ScheduleRow[] {
  return db
    .prepare<[number, number], ScheduleRow>(
      `SELECT ${COLUMNS} FROM schedules s WHERE s.next_at <= ? ORDER BY s.next_at, s.id LIMIT ?`,
    )
    .all(now, MOST_DUE);
}

/** The newest first. */
export function runsOf(db: AnyHandle, id: string, most = KEPT_RUNS): RunRow[] {
  return db
    .prepare<[string, number], RunRow>(
      `SELECT ${RUN_COLUMNS} FROM schedule_runs WHERE schedule_id = ? ORDER BY due_at DESC LIMIT ?`,
    )
    .all(id, most);
}

/** The job of an earlier run that has not ended. */
export function livingRunOf(db: AnyHandle, id: string): string | null {
  const job = db
    .prepare<[string], string>(
      `SELECT jobs.id FROM schedule_runs JOIN jobs ON jobs.id = schedule_runs.job_id
       WHERE schedule_id = ? AND jobs.state NOT IN (${ENDED}) ORDER BY due_at DESC LIMIT 1`,
    )
    .pluck()
    .get(id);
  return job ?? null;
}

/** Inside a transaction. Nothing of a schedule that was removed meanwhile. */
export function noteRun(
  db: WriteHandle,
  { id, nextAt: dueAt }: Pick<ScheduleRow, "id" | "nextAt">,
  run: Omit<RunRow, "dueAt">,
  nextAt: number,
): void {
  const isThere = db.prepare("SELECT 1 FROM schedules WHERE id = ?").get(id) !== undefined;
  if (!isThere || dueAt === null) return;
  db.prepare(
    "INSERT OR REPLACE INTO schedule_runs (schedule_id, due_at, outcome, code, job_id) VALUES (?, ?, ?, ?, ?)",
  ).run(id, dueAt, run.outcome, run.code, run.jobId);
  db.prepare(
    `DELETE FROM schedule_runs WHERE schedule_id = @id AND due_at NOT IN
       (SELECT due_at FROM schedule_runs WHERE schedule_id = @id ORDER BY due_at DESC LIMIT ${KEPT_RUNS})`,
  ).run({ id });
  moveNext(db, { id, nextAt: dueAt }, nextAt);
}

/** Inside a transaction. One that was paused or moved meanwhile stays so. */
export function moveNext(
  db: WriteHandle,
  { id, nextAt }: Pick<ScheduleRow, "id" | "nextAt">,
  to: number,
): void {
  db.prepare("UPDATE schedules SET next_at = ? WHERE id = ? AND next_at = ?").run(to, id, nextAt);
}

/** Inside a transaction. False where it rests already. */
export function pauseSchedule(db: WriteHandle, id: string, by: PauseReason): boolean {
  const pause =
    "UPDATE schedules SET next_at = NULL, paused_by = ? WHERE id = ? AND paused_by IS NULL";
  return db.prepare(pause).run(by, id).changes === 1;
}

/** Inside a transaction. */
export function resumeSchedule(db: WriteHandle, id: string, nextAt: number): void {
  db.prepare("UPDATE schedules SET next_at = ?, paused_by = NULL WHERE id = ?").run(nextAt, id);
}

/** Inside a transaction. Its jobs stay. */
export function removeSchedule(db: WriteHandle, id: string): void {
  db.prepare("DELETE FROM schedules WHERE id = ?").run(id);
}
