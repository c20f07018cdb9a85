import type { WriteHandle } from "../db/open-database.ts";
import { type RowFilter, whereOf } from "../db/row-filter.ts";
import type { ExpectedStart } from "./decisions/expected-starts.ts";
import type { RunningGang } from "./decisions/placement-facts.ts";
import { classOfPriority, type JobClass } from "./decisions/priorities.ts";
import { type Amounts, amountsOf } from "./decisions/shares.ts";
import type { StartErrors } from "./decisions/start-errors.ts";
import { shownKind } from "./decisions/stored-kind.ts";
import { type PlacedWorker, whyHere } from "./decisions/why-here.ts";
import { type WhyWaiting, whyWaiting } from "./decisions/why-waiting.ts";
import type { WorkerSelection } from "./accepted-task.ts";
import type { Outlook, PlacementOutlook } from "./placement-outlook.ts";
import type { NodeScoreView, PlacementScores } from "./placement-scores.ts";
import { jobClassOf, type Workloads } from "./workload.ts";

/** @property line as a sequence: who has the smaller one became ready first @property since Unix milliseconds @property start null of a job that is held */
export type QueuedJobView = {
  id: string;
  name: string;
  projectId: string;
  userId: string;
  owner: string;
  kind: string;
  jobClass: JobClass;
  isHeld: boolean;
  line: number;
  since: number;
  waitingFor: string | null;
  start: ExpectedStart | null;
};
type Row = Omit<QueuedJobView, "isHeld" | "start" | "jobClass"> & {
  state: string;
  job_class: string | null;
};

/** Who holds workers. Instants are Unix milliseconds; @property endsAt at the latest, null where it states no time */
export type WorkerHolder = {
  project: string;
  jobClass: JobClass | null;
  workers: Amounts;
  since: number;
  endsAt: number | null;
  /** It was asked to go. */
  isLeaving: boolean;
};

/** @property ahead jobs that come before it, by project, the first first */
export type WaitView = Omit<WhyWaiting, "ahead" | "holders"> & {
  ahead: { project: string; jobs: number }[];
  holders: WorkerHolder[];
  start: ExpectedStart | null;
  /** How good the places are that would do, the best first. */
  scores: NodeScoreView[];
};
/** Where a job is, and since when. */
export type PlacedView = {
  since: number;
  workers: PlacedWorker[];
  because: string[];
  scores: NodeScoreView[];
};

/** What waits for its first workers, the first in line first, with when it is expected to start; and why one job waits, or is where it is. */
export class QueueViews {
  readonly #db: WriteHandle;
  readonly #outlook: PlacementOutlook;
  readonly #workloads: Workloads;
  readonly #scores: Pick<PlacementScores, "of" | "ofServing">;
  readonly #placed;
  readonly #selection;

  constructor(
    db: WriteHandle,
    outlook: PlacementOutlook,
    workloads: Workloads,
    scores: Pick<PlacementScores, "of" | "ofServing">,
  ) {
    this.#scores = scores;
    this.#workloads = workloads;
    this.#db = db;
    this.#outlook = outlook;
    this.#placed = db.prepare<[string], PlacedWorker & { since: number }>(
      `SELECT leases.worker_id AS worker, workers.node_id AS node, workers.model, leases.acquired_at AS since
       FROM leases JOIN workers ON workers.id = leases.worker_id WHERE leases.job_id = ? AND leases.released_at IS NULL ORDER BY leases.worker_id`,
    );
    this.#selection = db
      .prepare<[string], string>("SELECT selection FROM jobs WHERE id = ?")
      .pluck();
  }

  /** Those that start first stand first, then those of which nobody knows, by arrival; what is held stands last. */
  async of(reach: RowFilter, project?: string): Promise<QueuedJobView[]> {
    const { sql, values } = whereOf(reach, {
      projectId: "jobs.project_id",
      userId: "jobs.user_id",
    });
    const rows = this.#db
      .prepare<string[], Row>(
        `SELECT jobs.id, jobs.name, jobs.project_id AS projectId, jobs.user_id AS userId, username AS owner, jobs.kind, jobs.job_class, jobs.state, coalesce(line, sequence) AS line,
           state_since AS since, waiting_for AS waitingFor
         FROM jobs JOIN users ON users.id = jobs.user_id
         WHERE jobs.state IN ('QUEUED', 'HELD') AND ended_at IS NULL AND (${sql})${project === undefined ? "" : " AND jobs.project_id = ?"}
         ORDER BY coalesce(line, sequence)`,
      )
      .all(...values, ...(project === undefined ? [] : [project]));
    const { starts } = await this.#outlook.read(
      rows.flatMap(({ id, state }) => (state === "QUEUED" ? [id] : [])),
    );
    const views = rows.map(({ state, job_class, ...row }) => ({
      ...{ ...row, kind: shownKind(row.kind) },
      jobClass: jobClassOf(this.#workloads, { kind: row.kind, job_class }),
      isHeld: state === "HELD",
      start: state === "HELD" ? null : (starts.get(row.id) ?? null),
    }));
    const at = ({ isHeld, start }: QueuedJobView) => (isHeld ? Infinity : (start?.at ?? 8.64e15));
    return views.toSorted((a, b) => (at(a) < at(b) ? -1 : at(a) > at(b) ? 1 : 0));
  }

  /** How wrong expected starts were before; null while too few jobs have started. */
  async startErrors(): Promise<StartErrors | null> {
    return (await this.#outlook.read()).errors;
  }

  /** When a job that waits is expected to start; null where nobody knows. */
  async startOf(job: string): Promise<number | null> {
    return (await this.#outlook.read([job])).starts.get(job)?.at ?? null;
  }

  /** Who holds the workers now, the oldest first. */
  async holders(): Promise<WorkerHolder[]> {
    const outlook = await this.#outlook.read();
    return [...outlook.running, ...outlook.leaving]
      .map((gang) => holderOf(gang, outlook))
      .toSorted((a, b) => a.since - b.since);
  }

  /** Why the job waits; null where it waits for no workers. */
  async waits(jobId: string): Promise<WaitView | null> {
    const outlook = await this.#outlook.read([jobId]);
    const why = whyWaiting(outlook.snapshot, outlook, jobId);
    if (why === null) return null;
    const { ahead, holders, ...rest } = why;
    const projects = new Map(outlook.snapshot.gangs.map(({ job, project }) => [job, project]));
    return {
      ...rest,
      ahead: [...Map.groupBy(ahead, (job) => projects.get(job) ?? "")].map(([project, jobs]) => ({
        ...{ project, jobs: jobs.length },
      })),
      holders: holders.map((gang) => holderOf(gang, outlook)),
      start: outlook.starts.get(jobId) ?? null,
      scores: this.#scores.ofServing(jobId),
    };
  }

  /** Where the job is; null while it holds no worker. */
  placed(jobId: string): PlacedView | null {
    const rows = this.#placed.all(jobId);
    if (rows.length === 0) return null;
    const workers = rows.map(({ since: _since, ...worker }) => worker);
    const selection = JSON.parse(this.#selection.get(jobId)!) as WorkerSelection;
    return {
      since: Math.min(...rows.map(({ since }) => since)),
      ...{ workers, because: whyHere(selection, workers) },
      scores: this.#scores.of(jobId, workers),
    };
  }
}

function holderOf(gang: RunningGang, { snapshot, leaving }: Outlook): WorkerHolder {
  const { project, priority, workers, startedAt, endsAt } = gang;
  const held = new Set(workers);
  return {
    ...{ project, jobClass: classOfPriority(priority), since: startedAt, endsAt },
    workers: amountsOf(snapshot.workers.filter(({ id }) => held.has(id))),
    isLeaving: leaving.includes(gang),
  };
}
