import type { WriteHandle } from "../db/open-database.ts";
import { type RowFilter, whereOf } from "../db/row-filter.ts";
import type { Clock } from "./clock.ts";
import { type ExpectedStart, expectedStarts } from "./decisions/expected-starts.ts";
import type { PlacementSnapshots } from "./placement-snapshots.ts";
import type { SharingSnapshots } from "./sharing-snapshots.ts";

/** @property since Unix milliseconds @property start null of a job that is held */
export type QueuedJobView = {
  id: string;
  name: string;
  projectId: string;
  owner: string;
  kind: string;
  isHeld: boolean;
  since: number;
  waitingFor: string | null;
  start: ExpectedStart | null;
};
type Row = Omit<QueuedJobView, "isHeld" | "start"> & { state: string };

/** How long what was expected is told again: each look plans as often as jobs end. */
const AGE_MS = 10_000;

/** What waits for its first workers, the first in line first, with when it is expected to start. */
export class QueueViews {
  readonly #db: WriteHandle;
  readonly #clock: Clock;
  readonly #snapshots: Pick<PlacementSnapshots, "read">;
  readonly #sharing: Pick<SharingSnapshots, "running">;
  #expected: { at: number; starts: Map<string, ExpectedStart> } | null = null;

  constructor(
    db: WriteHandle,
    clock: Clock,
    snapshots: Pick<PlacementSnapshots, "read">,
    sharing: Pick<SharingSnapshots, "running">,
  ) {
    this.#db = db;
    this.#clock = clock;
    this.#snapshots = snapshots;
    this.#sharing = sharing;
  }

  /** Those that start first stand first, then those of which nobody knows, by arrival; what is held stands last. */
  of(reach: RowFilter, project?: string): QueuedJobView[] {
    const { sql, values } = whereOf(reach, {
      projectId: "jobs.project_id",
      userId: "jobs.user_id",
    });
    const rows = this.#db
      .prepare<string[], Row>(
        `SELECT jobs.id, jobs.name, jobs.project_id AS projectId, username AS owner, jobs.kind, jobs.state, state_since AS since, waiting_for AS waitingFor
         FROM jobs JOIN users ON users.id = jobs.user_id
         WHERE jobs.state IN ('QUEUED', 'HELD') AND ended_at IS NULL AND (${sql})${project === undefined ? "" : " AND jobs.project_id = ?"}
         ORDER BY sequence`,
      )
      .all(...values, ...(project === undefined ? [] : [project]));
    const starts = this.#starts();
    const views = rows.map(({ state, ...row }) => ({
      ...row,
      isHeld: state === "HELD",
      start: state === "HELD" ? null : (starts.get(row.id) ?? null),
    }));
    const at = ({ isHeld, start }: QueuedJobView) => (isHeld ? Infinity : (start?.at ?? 8.64e15));
    return views.toSorted((a, b) => (at(a) < at(b) ? -1 : at(a) > at(b) ? 1 : 0));
  }

  /** When a job that waits is expected to start; null where nobody knows. */
  startOf(job: string): number | null {
    return this.#starts().get(job)?.at ?? null;
  }

  #starts(): Map<string, ExpectedStart> {
    const now = this.#clock.now();
    if (this.#expected === null || Math.abs(now - this.#expected.at) > AGE_MS)
      this.#expected = {
        at: now,
        starts: expectedStarts(this.#snapshots.read(), this.#sharing.running(), now),
      };
    return this.#expected.starts;
  }
}
