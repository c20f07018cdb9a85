/** What the coordinator's own rows say of who made way: the decision, when containers ran, and each round's model. Times are Unix milliseconds. */
import { join } from "node:path";
import Database from "better-sqlite3";
import type { LocalAppliance } from "@resontech/house/local-appliance";

export type Decision = { asker: string; reason: string; decidedAt: number };

export class KernelRows {
  readonly #file: string;

  constructor({ root }: Pick<LocalAppliance, "root">) {
    this.#file = join(root, "data", "coordinator", "coordinator.db");
  }

  /** The last round whose model is stored; null: none yet. */
  committed(job: string): number | null {
    return this.#all<number | null>("SELECT max(round) FROM checkpoints WHERE job_id = ?", job)[0]!;
  }

  /** Digest of the global model after each round, in their order; a round that two attempts ended stands there twice. */
  models(job: string): string[] {
    return this.#all(
      "SELECT model_sha256 FROM rounds WHERE job_id = ? AND model_sha256 IS NOT NULL ORDER BY round",
      job,
    );
  }

  /** Rounds that more than one attempt began: the work of the earlier one is lost. */
  begunTwice(job: string): number[] {
    return this.#all(
      "SELECT round FROM rounds WHERE job_id = ? GROUP BY round HAVING count(*) > 1",
      job,
    );
  }

  /** In which round each attempt began. */
  beginnings(job: string): number[] {
    return this.#all("SELECT start_round FROM attempts WHERE job_id = ? ORDER BY number", job);
  }

  decisions(victim: string): Decision[] {
    return this.#open((db) =>
      db
        .prepare<[string], Decision>(
          "SELECT job_id AS asker, reason, decided_at AS decidedAt FROM preemptions WHERE victim_job = ? ORDER BY id",
        )
        .all(victim),
    );
  }

  /** When the first container of the job ran. @throws Error where none has */
  firstRunAt(job: string): number {
    const at = this.#all<number | null>(
      "SELECT min(at) FROM job_events WHERE job_id = ? AND member_id IS NOT NULL AND to_state = 'RUNNING'",
      job,
    )[0];
    if (at == null) throw new Error(`no container of ${job} has run`);
    return at;
  }

  retriesSpent(job: string): number {
    return this.#all<number>(
      "SELECT retries_infrastructure + retries_lease_lost + retries_out_of_memory FROM jobs WHERE id = ?",
      job,
    )[0]!;
  }

  #all<Value>(query: string, job: string): Value[] {
    return this.#open((db) => db.prepare<[string], Value>(query).pluck().all(job));
  }

  #open<Read>(read: (db: Database.Database) => Read): Read {
    const db = new Database(this.#file, { readonly: true });
    try {
      return read(db);
    } finally {
      db.close();
    }
  }
}
