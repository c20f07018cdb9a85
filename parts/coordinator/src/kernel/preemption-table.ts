import type { WriteHandle } from "../db/open-database.ts";
import { Prepared } from "../db/prepared.ts";
import type { Preemption } from "./decisions/placement.ts";

/** How long workers that were freed wait for whom they were freed for. */
const KEPT_MS = 120_000;

/** The last decision by which a job made way. Whose job it made way for is null once that is deleted. */
type MadeWay = { attempt: string; projectId: string | null; userId: string | null; at: number };

/** Who was asked to make way for whom, and until when workers are kept for that. */
export class PreemptionTable {
  readonly #prepared: Prepared;
  readonly #lastOf;
  readonly #isVictim;

  constructor(db: WriteHandle) {
    this.#prepared = new Prepared(db);
    this.#isVictim = db
      .prepare<[string, string], number>(
        "SELECT EXISTS (SELECT 1 FROM preemptions WHERE victim_job = ? AND victim_attempt = ?)",
      )
      .pluck();
    this.#lastOf = db.prepare<[string], MadeWay>(
      `SELECT victim_attempt AS attempt, jobs.project_id AS projectId, jobs.user_id AS userId, decided_at AS at
       FROM preemptions LEFT JOIN jobs ON jobs.id = preemptions.job_id
       WHERE victim_job = ? ORDER BY preemptions.id DESC LIMIT 1`,
    );
  }

  /** Whether the attempt was asked to make way. */
  isVictim(attempt: { job: string; attempt: string }): boolean {
    return this.#isVictim.get(attempt.job, attempt.attempt) === 1;
  }

  /** @param makesWayMs how long the victims may take at the most; their workers are kept for longer */
  decide({ job, reason, victims, workers }: Preemption, now: number, makesWayMs: number): void {
    for (const victim of victims)
      this.#prepared.run(
        `INSERT INTO preemptions (job_id, reason, victim_job, victim_attempt, workers, decided_at, kept_until) VALUES (?, ?, ?, ?, ?, ?, ?)`,
        ...[job, reason, victim.job, victim.attempt, JSON.stringify(workers), now],
        now + makesWayMs + KEPT_MS,
      );
  }

  /** A worker of the attempt came free: once it holds none any more, the time counts for which they are kept. */
  noteFreed({ job, attempt }: { job: string; attempt: string }, now: number): void {
    this.#prepared.run(
      `UPDATE preemptions SET kept_until = min(kept_until, @until) WHERE victim_job = @job AND victim_attempt = @attempt
         AND NOT EXISTS (SELECT 1 FROM leases JOIN members ON members.id = leases.member_id
           WHERE members.attempt_id = @attempt AND released_at IS NULL)`,
      { job, attempt, until: now + KEPT_MS },
    );
  }

  lastOf(victimJob: string): MadeWay | undefined {
    return this.#lastOf.get(victimJob);
  }
}
