import type { JobReason } from "@resontech/contracts/job-reasons";
import type { JobState } from "@resontech/contracts/job-states";
import type { ReadHandle } from "../db/open-database.ts";
import { type RowFilter, whereOf } from "../db/row-filter.ts";
import type { AcceptedArray, ArrayPlace } from "./accepted-array.ts";

export type ArrayView = Omit<AcceptedArray, "jobs"> & { owner: string; createdAt: number };
type PointRow = {
  point: number;
  parameters: string;
  jobId: string;
  name: string | null;
  state: JobState | null;
  reason: JobReason | null;
  outputRoot: string | null;
  startedAt: number | null;
  endedAt: number | null;
};
/** @property job null once its row is gone @property metrics by name: the last value that was printed, the mean over the job's members */
export type ArrayPointView = ArrayPlace & {
  job: {
    id: string;
    name: string;
    state: JobState;
    reason: JobReason | null;
    outputRoot: string;
    startedAt: number | null;
    endedAt: number | null;
  } | null;
  metrics: Record<string, number>;
};

const COLUMNS = `a.id, a.project_id AS projectId, a.user_id AS userId, a.name, a.at_once AS atOnce, a.created_at AS createdAt,
  u.username AS owner`;
/** Older ones are found by their id alone. */
const LISTED = 200;

/** Arrays of jobs as routes read them: a thousand points in two questions. */
export class ArrayViews {
  readonly #db: ReadHandle;
  readonly #find;
  readonly #points;
  readonly #lastValues;
  readonly #states;

  constructor(db: ReadHandle) {
    this.#db = db;
    this.#find = db.prepare<[string], ArrayView>(
      `SELECT ${COLUMNS} FROM arrays a JOIN users u ON u.id = a.user_id WHERE a.id = ?`,
    );
    this.#points = db.prepare<[string], PointRow>(
      `SELECT point, parameters, job_id AS jobId, jobs.name, state, reason, output_root AS outputRoot, started_at AS startedAt,
         ended_at AS endedAt
       FROM array_points LEFT JOIN jobs ON jobs.id = job_id WHERE array_id = ? ORDER BY point`,
    );
    this.#lastValues = db.prepare<[string], { jobId: string; name: string; value: number }>(
      `SELECT curves.job_id AS jobId, curves.name, curve_buckets.last AS value, max(place)
       FROM array_points JOIN curves ON curves.job_id = array_points.job_id AND kind = 'printed'
         JOIN curve_buckets ON curve_id = curves.id
       WHERE array_id = ? GROUP BY curves.id`,
    );
    this.#states = db.prepare<[string], { state: JobState | null; count: number }>(
      `SELECT jobs.state, count(*) AS count FROM array_points LEFT JOIN jobs ON jobs.id = job_id
       WHERE array_id = ? GROUP BY jobs.state`,
    );
  }

  find(id: string): ArrayView | null {
    return this.#find.get(id) ?? null;
  }

  /** The newest first. @param project of this one alone */
  list(reach: RowFilter, project?: string): ArrayView[] {
    const { sql, values } = whereOf(reach, { projectId: "a.project_id", userId: "a.user_id" });
    const [also, given] = project === undefined ? ["", []] : [" AND a.project_id = ?", [project]];
    return this.#db
      .prepare<string[], ArrayView>(
        `SELECT ${COLUMNS} FROM arrays a JOIN users u ON u.id = a.user_id WHERE (${sql})${also}
         ORDER BY a.created_at DESC, a.id LIMIT ${LISTED}`,
      )
      .all(...values, ...given);
  }

  /** In their order. */
  points(id: string): ArrayPointView[] {
    const metrics = this.#lastMetrics(id);
    return this.#points.all(id).map((row) => {
      const { point, parameters, jobId, name, state, reason, outputRoot, ...times } = row;
      return {
        ...{ point, parameters: JSON.parse(parameters) as Record<string, string> },
        job:
          name === null || state === null || outputRoot === null
            ? null
            : { id: jobId, name, state, reason, outputRoot, ...times },
        metrics: Object.fromEntries(
          [...(metrics.get(jobId) ?? [])].map(([of, values]) => [of, meanOf(values)]),
        ),
      };
    });
  }

  /** How many of its jobs are in which state; null: their rows are gone. */
  states(id: string): { state: JobState | null; count: number }[] {
    return this.#states.all(id);
  }

  /** Of each job the last values of each metric, one for each member that printed it. */
  #lastMetrics(id: string): Map<string, Map<string, number[]>> {
    const found = new Map<string, Map<string, number[]>>();
    for (const { jobId, name, value } of this.#lastValues.all(id)) {
      const ofJob = found.get(jobId) ?? new Map<string, number[]>();
      ofJob.set(name, [...(ofJob.get(name) ?? []), value]);
      found.set(jobId, ofJob);
    }
    return found;
  }
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, one) => sum + one, 0) / values.length;
}
