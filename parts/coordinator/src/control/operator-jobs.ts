/** What the operator is shown of jobs: states alone, nothing that a user wrote into one. */
import type { JobFacts, JobMemberFacts } from "@resontech/contracts/operator-jobs";
import { TERMINAL_JOB_STATES } from "@resontech/contracts/job-states";
import { ApiError } from "../api-error.ts";
import type { ReadHandle } from "../db/open-database.ts";
import { WORKERS_OF_MEMBER } from "../db/workers-of-member.ts";
import { instant } from "../http/decisions/job-replies.ts";
import { shownKind } from "../kernel/decisions/stored-kind.ts";
import { begunId } from "./begun-id.ts";

type JobRow = {
  id: string;
  kind: string;
  username: string;
  state: string;
  state_since: number;
  created_at: number;
  attempts_made: number;
  waiting_for: string | null;
  reason: string | null;
  round: number | null;
  rounds: number | null;
};

const OVER = TERMINAL_JOB_STATES.map((state) => `'${state}'`).join(", ");
const JOBS = `SELECT j.id, j.kind, u.username, j.state, j.state_since, j.created_at, j.attempts_made, j.waiting_for, j.reason,
    (SELECT max(round) FROM rounds r WHERE r.job_id = j.id) AS round,
    coalesce((SELECT max(num_rounds) FROM rounds r WHERE r.job_id = j.id), j.num_rounds) AS rounds
  FROM jobs j JOIN users u ON u.id = j.user_id`;

/** Lists an operator's view of jobs, newest first. */
export function operatorJobs(
  db: ReadHandle,
  { living, limit }: { living: boolean; limit: number },
): JobFacts[] {
  const where = living ? `WHERE j.state NOT IN (${OVER})` : "";
  return db
    .prepare<[number], JobRow>(`${JOBS} ${where} ORDER BY j.sequence DESC LIMIT ?`)
    .all(limit)
    .map(jobFacts);
}

/** @param idOrStart a job's id, or how it begins @throws ApiError not_found, id_ambiguous */
export function operatorJob(
  db: ReadHandle,
  idOrStart: string,
): { job: JobFacts; members: JobMemberFacts[] } {
  const id = begunId(db, "jobs", idOrStart);
  const row = db.prepare<[string], JobRow>(`${JOBS} WHERE j.id = ?`).get(id);
  if (row === undefined) throw new ApiError("not_found", `there is no job ${id}`);
  const members = db
    .prepare<[string], Omit<JobMemberFacts, "workers"> & { workers: string }>(
      `SELECT role, site, node_id AS node, worker_id AS worker, ${WORKERS_OF_MEMBER} AS workers, state
       FROM members JOIN attempts a ON a.id = members.attempt_id
       WHERE a.job_id = ? AND a.number = (SELECT max(number) FROM attempts WHERE job_id = a.job_id)
       ORDER BY is_lead DESC, site, members.id`,
    )
    .all(id)
    .map((member) => ({ ...member, workers: JSON.parse(member.workers) as string[] }));
  return { job: jobFacts(row), members };
}

function jobFacts(row: JobRow): JobFacts {
  return {
    ...{ job: row.id, kind: shownKind(row.kind), username: row.username, state: row.state },
    ...{ since: instant(row.state_since), createdAt: instant(row.created_at) },
    ...{ attempt: row.attempts_made, round: row.round, rounds: row.rounds },
    ...{ waitingFor: row.waiting_for, reason: row.reason },
  };
}
