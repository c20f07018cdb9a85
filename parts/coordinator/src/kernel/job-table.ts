import type { JobReason } from "@resontech/contracts/job-reasons";
import type { JobState, MemberState } from "@resontech/contracts/job-states";
import type { WriteHandle } from "../db/open-database.ts";
import { Prepared } from "../db/prepared.ts";
import type { Changes } from "./changes.ts";
import { shownKind } from "./decisions/stored-kind.ts";
import type { AttemptRow, JobRow } from "./rows.ts";

/** Columns that a transition of a job may set; what is left out stays. */
export type JobChange = Partial<
  Pick<
    JobRow,
    | "desired"
    | "stopped_by"
    | "reason"
    | "message"
    | "detail"
    | "blamed_member"
    | "deadline_at"
    | "attempts_made"
    | "failed_binds"
    | "retries_infrastructure"
    | "retries_lease_lost"
    | "retries_out_of_memory"
    | "avoid_nodes"
    | "waiting_for"
    | "line"
    | "replicas_due"
    | "started_at"
    | "expires_at"
    | "ran_ms"
    | "server_memory_bytes"
    | "ended_at"
  >
>;

type EventFields = { jobId: string; event: string; reason: JobReason | null; at: number };
export type JobEventRow = EventFields & {
  memberId: null;
  attemptId: string | null;
  from: JobState | null;
  to: JobState;
  generation: null;
  counter: null;
};
export type MemberEventRow = EventFields & {
  memberId: string;
  attemptId: string;
  from: MemberState | null;
  to: MemberState;
  generation: number;
  counter: number;
};

/** Jobs, attempts and the journal of both machines. */
export class JobTable {
  readonly #changes: Changes;
  readonly #prepared: Prepared;
  readonly #byId;
  readonly #liveAttempts;
  readonly #lastAttempt;
  readonly #event;
  readonly #stagedBytes;
  readonly #touch;
  readonly #growing;
  readonly #livingGangs;
  readonly #waitingFor;
  readonly #noteWaiting;
  readonly #failedBind;

  constructor(db: WriteHandle, changes: Changes) {
    this.#changes = changes;
    this.#prepared = new Prepared(db);
    this.#byId = db.prepare<[string], JobRow>("SELECT * FROM jobs WHERE id = ?");
    this.#liveAttempts = db.prepare<[string], AttemptRow>(
      "SELECT * FROM attempts WHERE job_id = ? AND ended_at IS NULL ORDER BY number",
    );
    this.#lastAttempt = db.prepare<[string], AttemptRow>(
      "SELECT * FROM attempts WHERE job_id = ? ORDER BY number DESC LIMIT 1",
    );
    this.#event = db.prepare(
      `INSERT INTO job_events (job_id, member_id, attempt_id, from_state, to_state, event, reason, generation, counter, at)
       VALUES (@jobId, @memberId, @attemptId, @from, @to, @event, @reason, @generation, @counter, @at)`,
    );
    this.#stagedBytes = db
      .prepare<[string], number>(
        `SELECT coalesce(sum(size_bytes), 0) + (
           SELECT coalesce((SELECT max(json_extract(value, '$.sizeBytes')) FROM json_each(images)), json_extract(image, '$.sizeBytes'))
           FROM jobs WHERE id = job_id)
         FROM job_inputs WHERE job_id = ?`,
      )
      .pluck();
    this.#touch = db.prepare("UPDATE jobs SET deadline_at = ? WHERE id = ?");
    this.#growing = db.prepare<[], JobRow>(
      "SELECT * FROM jobs WHERE replicas_due > 0 AND state = 'RUNNING'",
    );
    this.#livingGangs = db.prepare<[], { job_id: string; count: number }>(
      `SELECT attempts.job_id, count(*) AS count FROM attempts JOIN members ON members.attempt_id = attempts.id
       JOIN jobs ON jobs.id = attempts.job_id AND jobs.replicas_due > 0 AND jobs.state = 'RUNNING'
       WHERE attempts.is_replica = 1 AND attempts.ended_at IS NULL AND members.desired = 'run'
         AND members.state IN ('LEASED', 'STARTING', 'RUNNING')
       GROUP BY attempts.job_id`,
    );
    this.#waitingFor = db
      .prepare<[string], string | null>("SELECT waiting_for FROM jobs WHERE id = ?")
      .pluck();
    this.#noteWaiting = db.prepare<[string, string]>(
      "UPDATE jobs SET waiting_for = ? WHERE id = ? AND (state = 'QUEUED' OR replicas_due > 0)",
    );
    this.#failedBind = db
      .prepare<[string], number>(
        "UPDATE jobs SET failed_binds = failed_binds + 1 WHERE id = ? AND state = 'QUEUED' RETURNING failed_binds",
      )
      .pluck();
  }

  get(id: string): JobRow | undefined {
    return this.#byId.get(id);
  }

  /** Those that run, and wait for workers for more gangs. */
  growing(): JobRow[] {
    return this.#growing.all();
  }

  /** By job that grows: its gangs that do their work, or are on their way to it. */
  livingGangs(): Map<string, number> {
    return new Map(this.#livingGangs.all().map(({ job_id: job, count }) => [job, count]));
  }

  waitingFor(id: string): string | null {
    return this.#waitingFor.get(id) ?? null;
  }

  /** Inside a transaction. False when it waits no longer. */
  noteWaiting(id: string, why: string): boolean {
    return this.#noteWaiting.run(why, id).changes === 1;
  }

  /** Inside a transaction. @returns how many there were in a row; undefined when it waits no longer */
  countFailedBind(id: string): number | undefined {
    return this.#failedBind.get(id);
  }

  /** Of a job that has one at a time the only one. */
  liveAttempt(jobId: string): AttemptRow | undefined {
    return this.liveAttempts(jobId)[0];
  }

  /** The oldest first. */
  liveAttempts(jobId: string): AttemptRow[] {
    return this.#liveAttempts.all(jobId);
  }

  lastAttempt(jobId: string): AttemptRow | undefined {
    return this.#lastAttempt.get(jobId);
  }

  /** Compare-and-set on id, version and state; false when the row is no longer as it was read. */
  move(job: JobRow, to: JobState, at: number, change: JobChange): boolean {
    const columns = Object.keys(change).map((column) => `, ${column} = @${column}`);
    const changes = this.#prepared.run(
      `UPDATE jobs SET state = @to, version = version + 1, state_since = @at${columns.join("")}
       WHERE id = @id AND version = @version AND state = @from`,
      { ...change, id: job.id, version: job.version, from: job.state, to, at },
    );
    return changes === 1;
  }

  /** Facts that change no state. */
  note(jobId: string, change: JobChange): void {
    const columns = Object.keys(change).map((column) => `, ${column} = @${column}`);
    this.#prepared.run(`UPDATE jobs SET version = version + 1${columns.join("")} WHERE id = @id`, {
      ...change,
      id: jobId,
    });
  }

  /** Told to the feed as it is written: the two have the same order. */
  journal(row: JobEventRow | MemberEventRow): void {
    const journal = Number(this.#event.run(row).lastInsertRowid);
    const { jobId: job, event, reason } = row;
    if (row.memberId === null)
      this.#changes.note({
        kind: "job",
        job,
        attempt: row.attemptId,
        from: row.from,
        to: row.to,
        event,
        reason,
        journal,
        ...(row.from === null ? { workload: shownKind(this.get(job)!.kind) } : {}),
      });
    else {
      const { memberId: member, attemptId: attempt, from, to } = row;
      this.#changes.note({
        kind: "member",
        job,
        member,
        attempt,
        from,
        to,
        event,
        reason,
        journal,
      });
    }
  }

  /** Bytes that staging has to move: inputs and the largest image. */
  bytesToStage(jobId: string): number {
    return this.#stagedBytes.get(jobId) ?? 0;
  }

  setDeadline(jobId: string, deadlineAt: number | null): void {
    this.#touch.run(deadlineAt, jobId);
  }

  endAttempt(attemptId: string, at: number, reason: string | null): void {
    this.#prepared.run(
      "UPDATE attempts SET ended_at = ?, end_reason = ?, ca_key = NULL WHERE id = ? AND ended_at IS NULL",
      ...[at, reason, attemptId],
    );
  }
}
