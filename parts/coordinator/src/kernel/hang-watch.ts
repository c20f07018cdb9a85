import type { GroupCommit } from "../db/group-commit.ts";
import type { WriteHandle } from "../db/open-database.ts";
import type { Clock } from "./clock.ts";
import { evaluateSilence, silenceText } from "./decisions/hanging.ts";
import type { WarningTable } from "./warning-table.ts";

export const HANG_AFTER_MS = 60 * 60_000;
const LOOK_EVERY_MS = 30_000;
const TOPIC = "hanging";

/** Reports running jobs of which nothing is heard. It ends none: what takes long to compute says nothing either. Jobs of
 * several gangs are passed over: those only wait to be called. */
export class HangWatch {
  readonly #commit: GroupCommit;
  readonly #clock: Clock;
  readonly #warnings: WarningTable;
  readonly #hangAfterMs: number;
  readonly #running;
  #nextAt = -Infinity;

  constructor(
    db: WriteHandle,
    commit: GroupCommit,
    clock: Clock,
    warnings: WarningTable,
    hangAfterMs = HANG_AFTER_MS,
  ) {
    this.#commit = commit;
    this.#clock = clock;
    this.#warnings = warnings;
    this.#hangAfterMs = hangAfterMs;
    this.#running = db.prepare<[], { id: string; last_sign: number }>(
      `SELECT id, max(state_since,
         coalesce((SELECT max(max(coalesce(started_at, 0), coalesce(ended_at, 0))) FROM rounds WHERE job_id = jobs.id), 0),
         coalesce((SELECT at FROM metrics WHERE job_id = jobs.id ORDER BY seq DESC LIMIT 1), 0),
         coalesce((SELECT max(max(opened_at, coalesce(closed_at, 0))) FROM uploads WHERE job_id = jobs.id), 0),
         coalesce((SELECT max(progress_at) FROM members WHERE job_id = jobs.id), 0)) AS last_sign
       FROM jobs WHERE state = 'RUNNING'
         AND NOT EXISTS (SELECT 1 FROM attempts WHERE job_id = jobs.id AND is_replica = 1)`,
    );
  }

  async look(): Promise<void> {
    const now = this.#clock.now();
    if (now < this.#nextAt) return;
    this.#nextAt = now + LOOK_EVERY_MS;
    for (const { id, last_sign: lastSign } of this.#running.all()) {
      const reported = this.#warnings.times(id, "server", TOPIC);
      const verdict = evaluateSilence({ now, lastSign, hangAfterMs: this.#hangAfterMs, reported });
      if (verdict === null) continue;
      await this.#commit.run(() => {
        if (verdict === "forget") this.#warnings.forget(id, "server", TOPIC);
        else
          this.#warnings.note(id, {
            site: "server",
            topic: TOPIC,
            text: silenceText(now, lastSign),
          });
      });
    }
  }
}
