import type { WriteHandle } from "../db/open-database.ts";
import { Prepared } from "../db/prepared.ts";
import { DEADLINES } from "./decisions/deadlines.ts";
import type { Preemption } from "./decisions/placement.ts";
import type { KernelTables } from "./kernel-tables.ts";
import { BindFailed } from "./member-maker.ts";
import type { Transitions } from "./transitions.ts";

/** How long workers that were freed wait for whom they were freed for. */
const KEPT_MS = 120_000;

/** Carries out who makes way: the decision and the order to go are one transaction. */
export class Preemptions {
  readonly #prepared: Prepared;
  readonly #tables: Pick<KernelTables, "clock" | "jobs">;
  readonly #transitions: Pick<Transitions, "moveJob">;

  constructor(
    db: WriteHandle,
    tables: Pick<KernelTables, "clock" | "jobs">,
    transitions: Pick<Transitions, "moveJob">,
  ) {
    this.#prepared = new Prepared(db);
    this.#tables = tables;
    this.#transitions = transitions;
  }

  /**
   * Inside a transaction.
   * @throws BindFailed when somebody who was to go does so already, or the job waits no longer; the transaction must be rolled back
   */
  apply({ job, reason, victims, workers }: Preemption): void {
    const { clock, jobs } = this.#tables;
    const now = clock.now();
    if (jobs.get(job)?.state !== "QUEUED") throw new BindFailed(`job ${job} waits no longer`);
    for (const victim of victims) {
      this.#prepared.run(
        `INSERT INTO preemptions (job_id, reason, victim_job, victim_attempt, workers, decided_at, kept_until) VALUES (?, ?, ?, ?, ?, ?, ?)`,
        ...[job, reason, victim.job, victim.attempt, JSON.stringify(workers), now],
        now + DEADLINES.preemptingMs + KEPT_MS,
      );
      const isThis = jobs.liveAttempt(victim.job)?.id === victim.attempt;
      if (!isThis || !this.#transitions.moveJob(victim.job, "preempt", { reason: "preempted" }))
        throw new BindFailed(`job ${victim.job} makes way already`);
    }
  }
}
