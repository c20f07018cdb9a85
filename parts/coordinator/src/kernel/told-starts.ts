import type { WriteHandle } from "../db/open-database.ts";
import type { ExpectedStart } from "./decisions/expected-starts.ts";
import { type StartErrors, startErrors } from "./decisions/start-errors.ts";

/** So many of the newest count: what was wrong last week says little of today. */
const KEPT = 50;

/**
 * What was told first of each job that waits, and how far from that it started. A process remembers what it told itself: after a restart there are no
 * errors to tell until some jobs have started.
 */
export class ToldStarts {
  readonly #startedAt;
  /** By job, in milliseconds. */
  readonly #told = new Map<string, number>();
  #errors: number[] = [];

  constructor(db: WriteHandle) {
    this.#startedAt = db
      .prepare<[string], number | null>(
        "SELECT min(created_at) FROM attempts WHERE job_id = ? AND is_replica = 0",
      )
      .pluck();
  }

  /** @param starts of all that wait */
  take(starts: ReadonlyMap<string, ExpectedStart>): void {
    for (const [job, at] of this.#told) {
      if (starts.has(job)) continue;
      this.#told.delete(job);
      const startedAt = this.#startedAt.get(job) ?? null;
      // It was cancelled, or is held.
      if (startedAt !== null) this.#errors.push(startedAt - at);
    }
    this.#errors = this.#errors.slice(-KEPT);
    for (const [job, { at }] of starts) {
      if (at === null || this.#told.has(job)) continue;
      // One that ran before, and made way, is no first start.
      if ((this.#startedAt.get(job) ?? null) === null) this.#told.set(job, at);
    }
  }

  /** Of the newest; null while too few have started. */
  get errors(): StartErrors | null {
    return startErrors(this.#errors);
  }
}
