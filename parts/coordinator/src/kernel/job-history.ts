import type { JobHistoryReply, JobInputsReply } from "@resontech/contracts/http-jobs";
import type { ReadHandle } from "../db/open-database.ts";

type Event = JobHistoryReply["events"][number];
type EventRow = {
  journal: number;
  at: number;
  attempt: number | null;
  member: string | null;
  role: string | null;
  site: string | null;
  from: string | null;
  to: Event["to"];
  event: string;
  reason: string | null;
};
type RoundRow = {
  attempt: number;
  round: number;
  started_at: number | null;
  ended_at: number | null;
  sites: string;
  has_checkpoint: number;
  is_finite: number | null;
};
type AttemptRow = {
  id: string;
  number: number;
  start_round: number;
  created_at: number;
  ended_at: number | null;
  end_reason: string | null;
};

const MAX_EVENTS = 500;

/** What happened in a job, over all its attempts: as long as its row stands. */
export class JobHistory {
  readonly #attempts;
  readonly #rounds;
  readonly #events;
  readonly #inputs;

  constructor(db: ReadHandle) {
    this.#attempts = db.prepare<[string], AttemptRow>(
      "SELECT id, number, start_round, created_at, ended_at, end_reason FROM attempts WHERE job_id = ? ORDER BY number",
    );
    this.#rounds = db.prepare<[string], RoundRow>(
      `SELECT number AS attempt, rounds.round, started_at, rounds.ended_at, sites, is_finite,
         EXISTS (SELECT 1 FROM checkpoints
           WHERE checkpoints.job_id = rounds.job_id AND checkpoints.attempt_id = rounds.attempt_id AND checkpoints.round = rounds.round) AS has_checkpoint
       FROM rounds JOIN attempts ON attempts.id = rounds.attempt_id WHERE rounds.job_id = ? ORDER BY number, rounds.round`,
    );
    this.#events = db.prepare<[string, number], EventRow>(
      `SELECT seq AS journal, at, number AS attempt, member_id AS member, role, site, from_state AS "from", to_state AS "to", event, job_events.reason
       FROM job_events LEFT JOIN members ON members.id = member_id
         LEFT JOIN attempts ON attempts.id = coalesce(job_events.attempt_id, members.attempt_id)
       WHERE job_events.job_id = ? ORDER BY seq DESC LIMIT ?`,
    );
    this.#inputs = db.prepare<[string], JobInputsReply[number]>(
      `SELECT kind, key, version_id AS versionId, size_bytes AS sizeBytes, shard_index AS shard
       FROM job_inputs WHERE job_id = ? ORDER BY key`,
    );
  }

  of({ id: jobId, projectId }: { id: string; projectId: string }): JobHistoryReply {
    return {
      projectId,
      attempts: this.#attempts.all(jobId).map((row) => ({
        ...{ id: row.id, number: row.number, startRound: row.start_round },
        createdAt: instant(row.created_at),
        endedAt: instantOrNull(row.ended_at),
        endReason: row.end_reason,
      })),
      rounds: this.#rounds.all(jobId).map((row) => ({
        ...{ attempt: row.attempt, round: row.round },
        startedAt: instantOrNull(row.started_at),
        endedAt: instantOrNull(row.ended_at),
        sites: JSON.parse(row.sites) as string[],
        hasCheckpoint: row.has_checkpoint === 1,
        isFinite: row.is_finite === null ? null : row.is_finite === 1,
      })),
      events: this.#events.all(jobId, MAX_EVENTS).reverse().map(eventOf),
    };
  }

  inputs(jobId: string): JobInputsReply {
    return this.#inputs.all(jobId);
  }
}

function eventOf(row: EventRow): Event {
  const { journal, at, attempt, member, role, site, from, to, event, reason } = row;
  return {
    ...{ journal, at: instant(at), attempt, from, to, event, reason },
    member: member === null ? null : { id: member, role: role ?? "", site },
  };
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}

function instantOrNull(ms: number | null): string | null {
  return ms === null ? null : instant(ms);
}
