import type { WriteHandle } from "../db/open-database.ts";
import type { Arrival } from "./decisions/again-arrivals.ts";
import type { LatelyKnown } from "./decisions/expected-starts.ts";
import type { Snapshot } from "./decisions/placement.ts";
import type { EndedRun } from "./decisions/run-parts.ts";
import type { PlacementSnapshots } from "./placement-snapshots.ts";
import type { JobRow } from "./rows.ts";
import type { Workloads } from "./workload.ts";

/** So far back, and so many of the newest. */
const [WINDOW_MS, MOST] = [2 * 3_600_000, 300];
/** So many of the newest that made way; fewer say nothing. */
const MADE_WAY = { most: 20, least: 3 };

/** How jobs came, ended and made way lately, as the rows have it: after a restart the same is told. */
export class RecentJobs {
  readonly #workloads: Workloads;
  readonly #snapshots: Pick<PlacementSnapshots, "gangOf">;
  readonly #came;
  readonly #first;
  readonly #ended;
  readonly #madeWay;

  constructor(
    db: WriteHandle,
    workloads: Workloads,
    snapshots: Pick<PlacementSnapshots, "gangOf">,
  ) {
    this.#workloads = workloads;
    this.#snapshots = snapshots;
    const newest = `(SELECT * FROM jobs ORDER BY sequence DESC LIMIT ${MOST})`;
    this.#came = db.prepare<[number, number], JobRow>(
      `SELECT * FROM ${newest} WHERE created_at > ? AND created_at <= ? ORDER BY sequence`,
    );
    this.#first = db
      .prepare<[], number>("SELECT created_at FROM jobs ORDER BY sequence LIMIT 1")
      .pluck();
    this.#ended = db.prepare<[], EndedRun>(
      `SELECT project_id AS project, min(1.0, CAST(ran_ms AS REAL) / time_limit_ms) AS part FROM ${newest}
       WHERE ended_at IS NOT NULL AND time_limit_ms > 0 AND ran_ms > 0 ORDER BY ended_at DESC, sequence DESC`,
    );
    this.#madeWay = db
      .prepare<[], number>(
        `SELECT max(0, max(released_at) - decided_at) AS took
         FROM (SELECT * FROM preemptions ORDER BY id DESC LIMIT ${MADE_WAY.most}) AS decided
           JOIN members ON members.attempt_id = victim_attempt JOIN leases ON leases.member_id = members.id
         GROUP BY decided.id HAVING count(*) = count(released_at) ORDER BY took`,
      )
      .pluck();
  }

  /** @param fleet of the moment */
  read(now: number, fleet: Pick<Snapshot, "nodes">): LatelyKnown {
    const from = now - WINDOW_MS;
    const rows = this.#came.all(from, now);
    const oldest = rows.length < MOST ? (this.#first.get() ?? now) : rows[0]!.created_at;
    const took = this.#madeWay.all();
    return {
      since: Math.max(from, oldest),
      came: rows.flatMap((job) => this.#arrivalOf(job, fleet)),
      ended: this.#ended.all(),
      madeWayMs: took.length < MADE_WAY.least ? null : took[took.length >> 1]!,
    };
  }

  /** Of a job that never ran, or of which nobody knows how long one like it runs, nothing is learned. */
  #arrivalOf(job: JobRow, fleet: Pick<Snapshot, "nodes">): Arrival[] {
    const hasEnded = job.ended_at !== null;
    if (hasEnded ? job.ran_ms === 0 : job.time_limit_ms === null) return [];
    if (!this.#workloads.has(job.kind) || this.#workloads.of(job).hasSeveralGangs) return [];
    const gang = this.#snapshots.gangOf({ ...job, ran_ms: 0 }, fleet);
    return [{ at: job.created_at, gang, ranMs: hasEnded ? job.ran_ms : null }];
  }
}
