import { ChangedRows } from "../db/changed-rows.ts";
import type { WriteHandle } from "../db/open-database.ts";
import type { Clock } from "./clock.ts";
import type { RunningGang, SleepingGang } from "./decisions/placement-facts.ts";
import type { Sharing } from "./decisions/placement.ts";
import { CLASS_PRIORITIES, priorityOf } from "./decisions/priorities.ts";
import { type Amounts, isLimited } from "./decisions/shares.ts";
import type { ShareTable } from "./share-table.ts";
import { jobClassOf, type Workloads } from "./workload.ts";

type GangRow = {
  job: string;
  attempt: string;
  project: string;
  userId: string;
  kind: string;
  job_class: string | null;
  is_preemptible: number | null;
  spec: string | null;
  earlier: number;
  state: string;
  desired: string;
  workers: string;
  started_at: number;
  expires_at: number | null;
  time_limit_ms: number | null;
  ran_ms: number;
  committed_at: number | null;
  preempted_at: string | null;
};

/** One of several gangs makes way by itself, and its job runs on. */
const makesWay = (attempt: string) =>
  `EXISTS (SELECT 1 FROM preemptions WHERE victim_job = jobs.id AND victim_attempt = ${attempt})`;
/** Nobody asked them to go. One that waits again lets go of what it had. */
const STAYING = `(jobs.state NOT IN ('PREEMPTING', 'STOPPING', 'QUEUED', 'HELD') AND NOT ${makesWay("members.attempt_id")})`;
/** Of a job that may have several at a time, those that are older and stay. */
const EARLIER = `(SELECT count(*) FROM attempts AS own JOIN attempts AS earlier ON earlier.job_id = own.job_id AND earlier.number < own.number
  WHERE own.id = members.attempt_id AND own.is_replica = 1 AND earlier.ended_at IS NULL AND NOT ${makesWay("earlier.id")})`;

/** What was used is looked up so often; a plan in between has what was known then. */
const USE_AGE_MS = 60_000;

/** @property leftMs of the time that its job states; null: it states none */
type HeldGang = { gang: RunningGang; leftMs: number | null };

const WATCHED = {
  job: { table: "jobs", id: "id", ignored: ["waiting_for", "version"] },
  lease: { table: "leases", id: "job_id" },
  // The end of one moves those after it.
  attempt: { table: "attempts", id: "job_id" },
  checkpoint: { table: "checkpoints", id: "job_id" },
  preemption: { table: "preemptions", id: "victim_job" },
} as const;

/** What placement needs to know of shares: who is guaranteed what, who holds what now, and who held what before. */
export class SharingSnapshots {
  readonly #clock: Clock;
  readonly #workloads: Workloads;
  readonly #shares: ShareTable;
  readonly #changed: ChangedRows<keyof typeof WATCHED>;
  readonly #gangs;
  readonly #gangsOf;
  readonly #leaving;
  readonly #kept;
  readonly #asleep;
  /** By job, those that hold workers; null: to be read anew. */
  #held: Map<string, HeldGang[]> | null = null;
  #used: { at: number; amounts: Map<string, Amounts> } | null = null;

  constructor(db: WriteHandle, clock: Clock, workloads: Workloads, shares: ShareTable) {
    this.#shares = shares;
    this.#clock = clock;
    this.#workloads = workloads;
    this.#changed = new ChangedRows(db, "sharing", WATCHED);
    const all = `FROM leases JOIN members ON members.id = leases.member_id JOIN jobs ON jobs.id = leases.job_id WHERE TRUE`;
    // Written as it is to be walked: else all leases are looked at for each job.
    const ofJob = `FROM members CROSS JOIN leases ON leases.member_id = members.id CROSS JOIN jobs ON jobs.id = leases.job_id WHERE members.job_id = ?`;
    const gangs = (states: string, from = all) =>
      `SELECT jobs.id AS job, members.attempt_id AS attempt, jobs.project_id AS project, jobs.user_id AS userId, jobs.kind, jobs.job_class, jobs.is_preemptible, jobs.spec, ${EARLIER} AS earlier, jobs.state, jobs.desired, jobs.expires_at, jobs.time_limit_ms, jobs.ran_ms,
         json_group_array(leases.worker_id ORDER BY leases.worker_id) AS workers, min(leases.acquired_at) AS started_at,
         (SELECT max(committed_at) FROM checkpoints WHERE checkpoints.job_id = jobs.id) AS committed_at,
         (SELECT json_group_array(decided_at) FROM preemptions WHERE victim_job = jobs.id) AS preempted_at
       ${from} AND leases.released_at IS NULL AND ${states}
       GROUP BY members.attempt_id ORDER BY members.attempt_id`;
    this.#gangs = db.prepare<[], GangRow>(gangs(STAYING));
    this.#gangsOf = db.prepare<[string], GangRow>(gangs(STAYING, ofJob));
    this.#leaving = db.prepare<[], GangRow>(gangs(`NOT ${STAYING}`));
    // A gang that may sleep is one member.
    this.#asleep = db.prepare<[], Omit<SleepingGang, "workers"> & { worker: string }>(
      `SELECT members.job_id AS job, members.attempt_id AS attempt, jobs.project_id AS project, jobs.user_id AS userId, members.worker_id AS worker
       FROM members JOIN jobs ON jobs.id = members.job_id AND jobs.state = 'RUNNING'
       WHERE members.wishes_sleep = 1 AND members.state = 'RUNNING' AND members.desired = 'run' AND members.worker_id IS NOT NULL
         AND NOT ${makesWay("members.attempt_id")} ORDER BY members.id`,
    );
    this.#kept = db.prepare<[number], { job: string; workers: string }>(
      `SELECT DISTINCT preemptions.job_id AS job, workers FROM preemptions JOIN jobs ON jobs.id = preemptions.job_id AND jobs.state = 'QUEUED'
       WHERE kept_until > ? ORDER BY preemptions.id`,
    );
  }

  /** Undefined where nobody was guaranteed or limited anything. */
  read(): Sharing | undefined {
    if (!this.#shares.isSet) return undefined;
    const now = this.#clock.now();
    const shares = this.#shares.all();
    return {
      ...{ now, shares, used: this.#usedAt(now), running: this.running() },
      ...(isLimited(shares) ? { leaving: this.leaving() } : {}),
      persons: this.#shares.personsBehind(),
    };
  }

  /** All that hold workers and were not asked to go. */
  running(): RunningGang[] {
    const changed = new Set([...this.#changed.take().values()].flat());
    if (this.#held === null) {
      const rows = this.#gangs.all().map((row) => this.#gang(row));
      this.#held = Map.groupBy(rows, ({ gang }) => gang.job);
    } else
      for (const job of changed) {
        const rows = this.#gangsOf.all(job).map((row) => this.#gang(row));
        if (rows.length > 0) this.#held.set(job, rows);
        else this.#held.delete(job);
      }
    const now = this.#clock.now();
    return [...this.#held.values()].flatMap((gangs) =>
      gangs.map(({ gang, leftMs }) =>
        // Its time counts once it runs.
        gang.endsAt === null && leftMs !== null ? { ...gang, endsAt: now + leftMs } : gang,
      ),
    );
  }

  /** Nobody asks who holds what for now: what changes meanwhile is not kept for ever. */
  forget(): void {
    this.#changed.take();
    this.#held = null;
  }

  /** All that hold workers still, and were asked to go. */
  leaving(): RunningGang[] {
    return this.#leaving.all().map((row) => this.#gang(row).gang);
  }

  /** Those whose payload was told to stop where it is, and that nobody asked to go. */
  sleepers(): SleepingGang[] {
    return this.#asleep.all().map(({ worker, ...gang }) => ({ ...gang, workers: [worker] }));
  }

  /** Workers that were taken back, by id, with the job that each is kept for. */
  keptWorkers(): Map<string, string> {
    return new Map(
      this.#kept
        .all(this.#clock.now())
        .flatMap(({ job, workers }) =>
          (JSON.parse(workers) as string[]).map((worker): [string, string] => [worker, job]),
        ),
    );
  }

  #gang(row: GangRow): HeldGang {
    const { job, attempt, project, userId, kind, started_at: startedAt } = row;
    const workload = this.#workloads.has(kind) ? this.#workloads.of({ kind }) : null;
    const isSeveral = workload?.hasSeveralGangs === true;
    const isMovable =
      row.desired === "run" &&
      // A job that may have several gangs goes as a whole by its own word alone.
      (isSeveral ? ["RUNNING"] : ["RESERVED", "PROVISIONING", "STAGING", "RUNNING"]).includes(
        row.state,
      );
    const least = isSeveral ? workload.leastGangs(row) : 1;
    const { time_limit_ms: limit, ran_ms: ran } = row;
    const gang: RunningGang = {
      ...{ job, attempt, project, userId, startedAt },
      endsAt: row.expires_at,
      priority: priorityOf(jobClassOf(this.#workloads, row), row.earlier, least),
      staysGuaranteed: row.is_preemptible === 0 || (isSeveral && row.earlier < least),
      ...(isSeveral ? { lentPriority: CLASS_PRIORITIES.scavenger } : {}),
      // What a newer release began goes by that release's word.
      isPreemptible: isMovable && workload !== null,
      workers: JSON.parse(row.workers) as string[],
      committedAt: Math.max(startedAt, row.committed_at ?? 0),
      // Of several gangs another one made way each time.
      preemptedAt: isSeveral ? [] : (JSON.parse(row.preempted_at ?? "[]") as number[]),
    };
    return { gang, leftMs: limit === null ? null : Math.max(0, limit - ran) };
  }

  #usedAt(now: number): Map<string, Amounts> {
    if (this.#used === null || Math.abs(now - this.#used.at) > USE_AGE_MS)
      this.#used = { at: now, amounts: this.#shares.used() };
    return this.#used.amounts;
  }
}
