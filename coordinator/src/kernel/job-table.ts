import type { JobReason } from "@resontech/contracts/job-reasons";
import type { JobState, MemberState } from "@resontech/contracts/job-states";
import type { WriteHandle } from "../db/open-database.ts";
import { Prepared } from "../db/prepared.ts";
import type { Changes } from "./changes.ts";
import type { AttemptRow, JobRow } from "./rows.ts";

/** Columns that a transition of a job may set; what is left out stays. */
export type JobChange = Partial<
  Pick<
    JobRow,
    | "desired"
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
    | "replicas_due"
    | "started_at"
    | "expires_at"
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
  }

  get(id: string): JobRow | undefined {
    return this.#byId.get(id);
  }

  /** Of a job without replicas the only one. */
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
        ...(row.from === null ? { workload: this.get(job)!.kind } : {}),
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
