import { TERMINAL_JOB_STATES } from "@resontech/contracts/job-states";
import type { WriteHandle } from "../db/open-database.ts";
import type { AcceptedArray, ArrayPlace } from "./accepted-array.ts";

const ENDED = TERMINAL_JOB_STATES.map((state) => `'${state}'`).join(", ");
/** What waits for room in its array, and for nothing else. */
const WAITS = "jobs.state = 'HELD' AND jobs.reason IS NULL";

export type ArrayBound = Pick<AcceptedArray, "id" | "atOnce">;

/** Arrays of jobs, and which of these may be queued: no more at once than their array says. */
export class ArrayTable {
  readonly #insert;
  readonly #insertPoint;
  readonly #bound;
  readonly #goingOn;
  readonly #next;
  readonly #held;
  readonly #beside;
  readonly #arrayOf;

  constructor(db: WriteHandle) {
    this.#arrayOf = db
      .prepare<[string], string>("SELECT array_id FROM array_points WHERE job_id = ?")
      .pluck();
    this.#insert = db.prepare<[object]>(
      `INSERT INTO arrays (id, project_id, user_id, name, at_once, created_at)
       VALUES (@id, @projectId, @userId, @name, @atOnce, @now)`,
    );
    this.#insertPoint = db.prepare<[string, number, string, string]>(
      "INSERT INTO array_points (array_id, point, job_id, parameters) VALUES (?, ?, ?, ?)",
    );
    this.#bound = db.prepare<[string], ArrayBound>(
      `SELECT arrays.id, at_once AS atOnce FROM array_points JOIN arrays ON arrays.id = array_id
       WHERE job_id = ? AND at_once IS NOT NULL`,
    );
    this.#goingOn = db
      .prepare<[string], number>(
        `SELECT count(*) FROM array_points JOIN jobs ON jobs.id = job_id
         WHERE array_id = ? AND jobs.state NOT IN ('HELD', ${ENDED})`,
      )
      .pluck();
    this.#next = db
      .prepare<[string, number], string>(
        `SELECT job_id FROM array_points JOIN jobs ON jobs.id = job_id WHERE array_id = ? AND ${WAITS}
           AND NOT EXISTS (SELECT 1 FROM job_order WHERE job_order.job_id = jobs.id AND ended_as IS NULL)
         ORDER BY point LIMIT ?`,
      )
      .pluck();
    this.#beside = db
      .prepare<[string], string>(
        `SELECT b.job_id FROM array_points a JOIN array_points b ON b.array_id = a.array_id
         WHERE a.job_id = ? ORDER BY b.point`,
      )
      .pluck();
    this.#held = db
      .prepare<[], string>(
        `SELECT min(job_id) FROM array_points JOIN arrays ON arrays.id = array_id JOIN jobs ON jobs.id = job_id
         WHERE at_once IS NOT NULL AND ${WAITS} GROUP BY array_id`,
      )
      .pluck();
  }

  /** Inside a transaction. */
  add({ id, projectId, userId, name, atOnce }: AcceptedArray, now: number): void {
    this.#insert.run({ id, projectId, userId, name, atOnce, now });
  }

  /** Inside a transaction. */
  addPoint(id: string, { point, parameters }: ArrayPlace, jobId: string): void {
    this.#insertPoint.run(id, point, jobId, JSON.stringify(parameters));
  }

  /** Whether one more of its jobs may be queued. */
  hasRoom({ id, atOnce }: ArrayBound): boolean {
    return atOnce === null || this.#goingOn.get(id)! < atOnce;
  }

  /** The array of a job that says how many may be queued at once; null where none does. */
  boundOf(jobId: string): ArrayBound | null {
    return this.#bound.get(jobId) ?? null;
  }

  /** Id of its array; null where it is in none. */
  arrayOf(jobId: string): string | null {
    return this.#arrayOf.get(jobId) ?? null;
  }

  /** Those of the same array, in their order; none where it is in no array. */
  jobsBeside(jobId: string): string[] {
    return this.#beside.all(jobId);
  }

  /** Jobs of the same array for which there is room, in their order. */
  nextBeside(jobId: string): string[] {
    const bound = this.#bound.get(jobId);
    if (bound?.atOnce == null) return [];
    const room = bound.atOnce - this.#goingOn.get(bound.id)!;
    return room <= 0 ? [] : this.#next.all(bound.id, room);
  }

  /** One job of each array of which some are held for room. */
  held(): string[] {
    return this.#held.all();
  }
}
