import type { Inventory } from "@resontech/contracts/agent-protocol";
import { SharedRun } from "@resontech/frame/shared-run";
import type { GroupCommit } from "../db/group-commit.ts";
import type { WriteHandle } from "../db/open-database.ts";
import type { Heartbeats } from "./heartbeats.ts";
import type { WorkerSelection } from "./accepted-task.ts";
import { agentProtocolOf } from "./agent-protocol-of.ts";
import type { Placements } from "./apply-placement.ts";
import {
  type Placement,
  plan,
  type Replacement,
  type Snapshot,
  type Vacancy,
  type WaitingJob,
} from "./decisions/placement.ts";
import { capacityBytes } from "./decisions/resources.ts";
import { deviceFactsOf, imagesOf } from "./job-images.ts";
import { BindFailed } from "./member-maker.ts";
import type { Replacements } from "./replace-member.ts";
import type { JobRow, NodeRow, WorkerRow } from "./rows.ts";
import type { KernelTables } from "./kernel-tables.ts";
import type { Transitions } from "./transitions.ts";

/** Failed binds in a row that hold a job for the operator. */
const FAILED_BINDS_LIMIT = 5;

export type SchedulerParts = {
  db: WriteHandle;
  commit: GroupCommit;
  tables: KernelTables;
  transitions: Transitions;
  placements: Placements;
  replacements: Replacements;
  heartbeats: Pick<Heartbeats, "hasDisk">;
  /** True: start nothing new. */
  isDraining: () => boolean;
  onError: (error: unknown) => void;
};

/** One cycle at a time: read a snapshot, plan, apply optimistically. Runs when something that matters changed. */
export class Scheduler {
  readonly #parts: SchedulerParts;
  readonly #rounds = new SharedRun();

  constructor(parts: SchedulerParts) {
    this.#parts = parts;
  }

  /** Runs cycles until nothing wants one; at once when one is under way. */
  kick(): void {
    if (!this.#parts.tables.placementSignal.isRaised) return;
    void this.#rounds.run(() => this.#cycles().catch(this.#parts.onError));
  }

  async idle(): Promise<void> {
    await this.#rounds.idle();
  }

  async #cycles(): Promise<void> {
    const { tables, isDraining } = this.#parts;
    while (tables.placementSignal.isRaised && !isDraining()) {
      tables.placementSignal.take();
      await this.cycle();
    }
  }

  async cycle(): Promise<void> {
    const { commit, db, tables } = this.#parts;
    const { placements, replacements, replicas, waiting } = plan(this.#snapshot());
    await Promise.all([
      ...replacements.map((replacement) => this.#replace(replacement)),
      ...replicas.map((replica) => this.#addReplica(replica)),
      ...placements.map((placement) => this.#bind(placement)),
    ]);
    const changed = waiting.filter(({ job, why }) => this.#waitingFor(job) !== why);
    if (changed.length === 0) return;
    await commit.run(() => {
      const note = db.prepare(
        "UPDATE jobs SET waiting_for = ? WHERE id = ? AND (state = 'QUEUED' OR replicas_due > 0)",
      );
      for (const { job, why } of changed)
        if (note.run(why, job).changes === 1) tables.changes.note({ kind: "waiting", job, why });
    });
  }

  async #bind(placement: Placement): Promise<void> {
    const { commit, placements, db, tables, transitions } = this.#parts;
    try {
      await commit.run(() => placements.apply(placement));
    } catch (error) {
      if (!(error instanceof BindFailed)) throw error;
      await commit.run(() => {
        const binds = db
          .prepare<[string], number>(
            "UPDATE jobs SET failed_binds = failed_binds + 1 WHERE id = ? AND state = 'QUEUED' RETURNING failed_binds",
          )
          .pluck()
          .get(placement.job);
        if (binds !== undefined && binds >= FAILED_BINDS_LIMIT)
          transitions.moveJob(placement.job, "hold", { reason: "binds_failed" });
        else tables.placementSignal.raise("bind-failed");
      });
    }
  }

  async #replace(replacement: Replacement): Promise<void> {
    const { commit, replacements } = this.#parts;
    try {
      await commit.run(() => replacements.apply(replacement));
    } catch (error) {
      // Whatever took the worker or the node away asks for a cycle itself: planning the same again at once would never end.
      if (!(error instanceof BindFailed)) throw error;
    }
  }

  /** As with {@link #replace}, whatever kept it from its worker asks for a cycle itself. */
  async #addReplica(placement: Placement): Promise<void> {
    const { commit, placements } = this.#parts;
    try {
      await commit.run(() => placements.applyReplica(placement));
    } catch (error) {
      if (!(error instanceof BindFailed)) throw error;
    }
  }

  #waitingFor(job: string): string | null {
    return (
      this.#parts.db
        .prepare<[string], string | null>("SELECT waiting_for FROM jobs WHERE id = ?")
        .pluck()
        .get(job) ?? null
    );
  }

  #snapshot(): Snapshot {
    const { db, tables, heartbeats } = this.#parts;
    const jobs = db
      .prepare<[], JobRow>(
        "SELECT * FROM jobs WHERE state = 'QUEUED' AND ended_at IS NULL ORDER BY sequence",
      )
      .all();
    const nodes = db.prepare<[], NodeRow>("SELECT * FROM nodes").all();
    const freePorts = tables.bridges.freePorts(nodes);
    const gatewayPorts = tables.bridges.gatewayPorts(nodes);
    const workers = db
      .prepare<[], WorkerRow & { is_held: number; held_by: string | null }>(
        `SELECT workers.*, lease.worker_id IS NOT NULL AS is_held, jobs.kind AS held_by
         FROM workers LEFT JOIN leases AS lease ON lease.worker_id = workers.id AND lease.released_at IS NULL
           LEFT JOIN jobs ON jobs.id = lease.job_id
         WHERE is_present = 1`,
      )
      .all();
    const capacities = new Map(nodes.map((node) => [node.id, capacityBytes(memoryOf(node))]));
    // A guess from its model that no node has room for is none: the largest is tried.
    const largest = Math.max(0, ...capacities.values());
    const gangOf = (job: JobRow): WaitingJob => {
      const workload = tables.workloads.of(job);
      const { isReached } = workload;
      const { workers: size, hub } = workload.gang(job);
      return {
        ...{ id: job.id, ...wishesOf(job), isReached, size },
        agentProtocol: workload.agentProtocol(job),
        hubBytes: hub === null ? null : Math.min(hub.bytes, largest),
        ...(workload.hasReplicas ? { replicas: 0 } : {}),
      };
    };
    const due = db
      .prepare<[], JobRow>("SELECT * FROM jobs WHERE replicas_due > 0 AND state = 'RUNNING'")
      .all();
    const living = this.#livingReplicas();
    return {
      // What a newer release accepted waits for it.
      jobs: jobs.filter(({ kind }) => tables.workloads.has(kind)).map(gangOf),
      replicas: due
        .filter(({ kind }) => tables.workloads.has(kind))
        .flatMap((job) => {
          const there = living.get(job.id) ?? 0;
          return Array.from({ length: job.replicas_due }, (_, at): WaitingJob => {
            return { ...gangOf(job), replicas: there + at };
          });
        }),
      vacancies: this.#vacancies(),
      nodes: nodes.map((node) => ({
        id: node.id,
        ownerId: node.owner_id,
        isReady: node.state === "READY",
        isCordoned: node.is_cordoned === 1,
        hasDisk: heartbeats.hasDisk(node.id),
        freePorts: freePorts.get(node.id) ?? 0,
        gatewayPorts: gatewayPorts.get(node.id) ?? 0,
        capacityBytes: capacities.get(node.id) ?? 0,
        agentProtocol: agentProtocolOf(node),
      })),
      workers: workers.map((worker) => ({
        id: worker.id,
        node: worker.node_id,
        model: worker.model,
        memoryBytes: worker.memory_bytes,
        device: deviceFactsOf(worker),
        isHealthy: worker.is_healthy === 1 && worker.is_quarantined === 0,
        isFree: worker.is_held === 0,
        isHeldForGood: this.#isForGood(worker.held_by),
      })),
    };
  }

  #isForGood(kind: string | null): boolean {
    const { workloads } = this.#parts.tables;
    return kind !== null && workloads.has(kind) && workloads.of({ kind }).hasReplicas;
  }

  /** By job: those that answer, or are on their way to it. */
  #livingReplicas(): ReadonlyMap<string, number> {
    const rows = this.#parts.db
      .prepare<[], { job_id: string; count: number }>(
        `SELECT attempts.job_id, count(*) AS count FROM attempts JOIN members ON members.attempt_id = attempts.id
         JOIN jobs ON jobs.id = attempts.job_id AND jobs.replicas_due > 0 AND jobs.state = 'RUNNING'
         WHERE attempts.is_replica = 1 AND attempts.ended_at IS NULL AND members.desired = 'run'
           AND members.state IN ('LEASED', 'STARTING', 'RUNNING')
         GROUP BY attempts.job_id`,
      )
      .all();
    return new Map(rows.map(({ job_id: job, count }) => [job, count]));
  }

  /** Of running jobs that have a member beside the lead which let go; most have none. */
  #vacancies(): Vacancy[] {
    const { db, tables, transitions } = this.#parts;
    const { jobs } = tables;
    const candidates = db
      .prepare<[], string>(
        `SELECT DISTINCT members.job_id FROM members JOIN jobs ON jobs.id = members.job_id AND jobs.state = 'RUNNING'
         JOIN attempts ON attempts.id = members.attempt_id AND attempts.ended_at IS NULL
         WHERE is_lead = 0 AND members.state IN ('RELEASED', 'QUARANTINED', 'FENCED', 'LOST')
           AND NOT EXISTS (SELECT 1 FROM members AS later WHERE later.replaces = members.id)`,
      )
      .pluck()
      .all();
    return candidates.flatMap((jobId) => {
      const job = jobs.get(jobId)!;
      const attempt = jobs.liveAttempt(jobId)!;
      const home = tables.members
        .ofAttempt(attempt.id)
        .find(({ is_lead }) => is_lead === 1)!.node_id;
      return transitions.vacancies(jobId).map(({ member, spending }) => ({
        ...wishesOf({ ...job, ...spending }),
        agentProtocol: tables.workloads.of(job).agentProtocol(job),
        ...{ job: jobId, member: member.id, home, hasPort: attempt.bridge_port !== null },
      }));
    });
  }
}

function memoryOf({ inventory }: NodeRow): number {
  return (JSON.parse(inventory ?? "null") as Inventory | null)?.memoryBytes ?? 0;
}

function wishesOf(
  job: JobRow,
): Omit<Vacancy, "job" | "member" | "home" | "hasPort" | "agentProtocol"> {
  return {
    sequence: job.sequence,
    userId: job.user_id,
    selection: JSON.parse(job.selection) as WorkerSelection,
    onlyMine: job.only_mine === 1,
    estimatedMemoryMb: job.estimated_memory_mb,
    avoidNodes: JSON.parse(job.avoid_nodes) as string[],
    images: imagesOf(job),
  };
}
