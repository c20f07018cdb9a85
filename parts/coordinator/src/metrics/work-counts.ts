import { JOB_STATES, type JobState } from "@resontech/contracts/job-states";
import type { ReadHandle } from "../db/open-database.ts";

export type WorkCounts = {
  /** Of every state, also where there is none. */
  jobs: ReadonlyMap<JobState, number>;
  waiting: number;
  /** Since the job that waits longest began to; 0 where none does. */
  longestWaitMs: number;
  leases: number;
};

/** States in which a job waits for devices. */
const WAITING = ["ACCEPTED", "QUEUED", "HELD"] as const satisfies JobState[];
const IN_WAITING = WAITING.map((state) => `'${state}'`).join(", ");

/** Counts of jobs and leases, and nothing of any one job. */
export class WorkCounter {
  readonly #jobs;
  readonly #oldest;
  readonly #leases;

  constructor(read: ReadHandle) {
    this.#jobs = read.prepare<[], { state: JobState; jobs: number }>(
      "SELECT state, count(*) AS jobs FROM jobs GROUP BY state",
    );
    this.#oldest = read
      .prepare<[], number | null>(
        `SELECT min(state_since) FROM jobs WHERE state IN (${IN_WAITING})`,
      )
      .pluck();
    this.#leases = read
      .prepare<[], number>("SELECT count(*) FROM leases WHERE released_at IS NULL")
      .pluck();
  }

  count(now: number): WorkCounts {
    const found = new Map(this.#jobs.all().map(({ state, jobs }) => [state, jobs]));
    const jobs = new Map(JOB_STATES.map((state) => [state, found.get(state) ?? 0]));
    const oldest = this.#oldest.get() ?? null;
    return {
      jobs,
      waiting: WAITING.reduce((sum, state) => sum + (jobs.get(state) ?? 0), 0),
      longestWaitMs: oldest === null ? 0 : Math.max(0, now - oldest),
      leases: this.#leases.get() ?? 0,
    };
  }
}
