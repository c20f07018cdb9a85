import type { JobListQuery, JobListReply, JobRow } from "@resontech/contracts/http-jobs";
import type { JobState } from "@resontech/contracts/job-states";
import { readStates, UnknownState } from "@resontech/contracts/state-words";
import { ApiError } from "../api-error.ts";
import type { ReadHandle } from "../db/open-database.ts";
import { Prepared } from "../db/prepared.ts";
import type { JobClass } from "./decisions/priorities.ts";
import { type RowFilter, whereOf } from "../db/row-filter.ts";
import { shownKind, storedKindsOf } from "./decisions/stored-kind.ts";
import { jobClassOf, type Workloads } from "./workload.ts";

type Row = {
  sequence: number;
  id: string;
  name: string;
  project_id: string;
  username: string;
  kind: string;
  job_class: string | null;
  state: JobState;
  state_since: number;
  reason: JobRow["reason"];
  waiting_for: string | null;
  round: number | null;
  num_rounds: number | null;
  rounds_done: number;
  attempts_made: number;
  shard_count: number;
  created_at: number;
  started_at: number | null;
  ended_at: number | null;
};
type Condition = { sql: string; values: readonly string[] };
/** Kinds of job that a list has, or has not. */
export type Kinds = { are: readonly string[] } | { areNot: readonly string[] };

/** Pages of jobs, newest first, each with what a list shows and no more. */
export class JobLists {
  readonly #prepared: Prepared;

  readonly #workloads: Workloads;

  constructor(db: ReadHandle, workloads: Workloads) {
    this.#workloads = workloads;
    this.#prepared = new Prepared(db);
  }

  page(
    reach: RowFilter,
    kinds: Kinds,
    { state, project, text, before, limit }: JobListQuery,
  ): JobListReply {
    const shown: Condition[] = [
      ofKinds(kinds),
      whereOf(reach, { projectId: "jobs.project_id", userId: "jobs.user_id" }),
      ...(project === undefined ? [] : [{ sql: "jobs.project_id = ?", values: [project] }]),
      ...(text === undefined ? [] : [containing(text)]),
    ];
    const inStates = state === undefined ? null : statesOf(state);
    const page = [
      ...shown,
      ...(inStates === null ? [] : [oneOf("jobs.state", inStates)]),
      ...(before === undefined ? [] : [{ sql: "jobs.sequence < ?", values: [String(before)] }]),
    ];
    const { sql, values } = all(page);
    // One more than is asked for tells whether there is a next page.
    const rows = this.#prepared.all<Row>(
      `SELECT jobs.*, username, (SELECT max(round) FROM rounds WHERE rounds.job_id = jobs.id) AS round,
         (SELECT count(DISTINCT round) FROM rounds WHERE rounds.job_id = jobs.id AND rounds.ended_at IS NOT NULL) AS rounds_done
       FROM jobs JOIN users ON users.id = jobs.user_id WHERE ${sql} ORDER BY jobs.sequence DESC LIMIT ?`,
      ...values,
      limit + 1,
    );
    return {
      jobs: rows.slice(0, limit).map((row) => jobRow(row, jobClassOf(this.#workloads, row))),
      next: rows.length > limit ? rows[limit - 1]!.sequence : null,
      totals: this.#totals(shown),
    };
  }

  #totals(shown: readonly Condition[]): JobListReply["totals"] {
    const { sql, values } = all(shown);
    return Object.fromEntries(
      this.#prepared
        .all<{ state: JobState; jobs: number }>(
          `SELECT state, count(*) AS jobs FROM jobs WHERE ${sql} GROUP BY state`,
          ...values,
        )
        .map(({ state, jobs }) => [state, jobs]),
    );
  }
}

/** @throws ApiError validation_failed */
function statesOf(text: string): JobState[] {
  try {
    return readStates(text);
  } catch (error) {
    if (error instanceof UnknownState) throw new ApiError("validation_failed", error.message);
    throw error;
  }
}

function containing(text: string): Condition {
  const pattern = `%${text.replaceAll(/[\\%_]/g, (sign) => `\\${sign}`)}%`;
  return {
    sql: "(jobs.name LIKE ? ESCAPE '\\' OR jobs.id LIKE ? ESCAPE '\\')",
    values: [pattern, pattern],
  };
}

function ofKinds(kinds: Kinds): Condition {
  if ("are" in kinds) return oneOf("jobs.kind", kinds.are.flatMap(storedKindsOf));
  const { sql, values } = oneOf("jobs.kind", kinds.areNot.flatMap(storedKindsOf));
  return { sql: `NOT ${sql}`, values };
}

function oneOf(column: string, values: readonly string[]): Condition {
  return { sql: `${column} IN (${values.map(() => "?").join(", ")})`, values };
}

function all(conditions: readonly Condition[]): Condition {
  return {
    sql: conditions.map(({ sql }) => `(${sql})`).join(" AND "),
    values: conditions.flatMap(({ values }) => values),
  };
}

function jobRow(row: Row, jobClass: JobClass): JobRow {
  return {
    ...{ id: row.id, name: row.name, projectId: row.project_id, owner: row.username },
    ...{
      kind: shownKind(row.kind),
      jobClass,
      state: row.state,
      since: instant(row.state_since),
      reason: row.reason,
    },
    ...{ waitingFor: row.waiting_for, round: row.round, rounds: row.num_rounds },
    roundsDone: row.rounds_done,
    ...{ attempt: row.attempts_made, sites: row.shard_count, createdAt: instant(row.created_at) },
    startedAt: row.started_at === null ? null : instant(row.started_at),
    endedAt: row.ended_at === null ? null : instant(row.ended_at),
  };
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}
