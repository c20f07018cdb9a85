import type { Inventory } from "@resontech/contracts/agent-protocol";
import type { WriteHandle } from "../db/open-database.ts";
import type { WorkerSelection } from "./accepted-task.ts";
import { agentProtocolOf } from "./agent-protocol-of.ts";
import type { Snapshot } from "./decisions/placement.ts";
import type { PlacementWorker, Vacancy, WaitingGang } from "./decisions/placement-facts.ts";
import { capacityBytes } from "./decisions/resources.ts";
import type { Heartbeats } from "./heartbeats.ts";
import { deviceFactsOf, imagesOf } from "./job-images.ts";
import { priorityOf } from "./decisions/priorities.ts";
import type { KernelTables } from "./kernel-tables.ts";
import type { JobRow, NodeRow, WorkerRow } from "./rows.ts";
import type { SharingSnapshots } from "./sharing-snapshots.ts";
import type { Transitions } from "./transitions.ts";

type HeldWorkerRow = WorkerRow & { is_held: number; held_by: string | null };

/** What waits and what is there, as the rows have it at one moment: all that a plan is made from. */
export class PlacementSnapshots {
  readonly #tables: KernelTables;
  readonly #transitions: Pick<Transitions, "vacancies">;
  readonly #heartbeats: Pick<Heartbeats, "hasDisk">;
  readonly #sharing: Pick<SharingSnapshots, "read" | "keptWorkers">;
  readonly #nodes;
  readonly #workers;
  readonly #vacant;

  constructor(
    db: WriteHandle,
    tables: KernelTables,
    transitions: Pick<Transitions, "vacancies">,
    heartbeats: Pick<Heartbeats, "hasDisk">,
    sharing: Pick<SharingSnapshots, "read" | "keptWorkers">,
  ) {
    this.#tables = tables;
    this.#sharing = sharing;
    this.#transitions = transitions;
    this.#heartbeats = heartbeats;
    this.#nodes = db.prepare<[], NodeRow>("SELECT * FROM nodes");
    this.#workers = db.prepare<[], HeldWorkerRow>(
      `SELECT workers.*, lease.worker_id IS NOT NULL AS is_held, jobs.kind AS held_by
       FROM workers LEFT JOIN leases AS lease ON lease.worker_id = workers.id AND lease.released_at IS NULL
         LEFT JOIN jobs ON jobs.id = lease.job_id
       WHERE is_present = 1`,
    );
    this.#vacant = db
      .prepare<[], string>(
        `SELECT DISTINCT members.job_id FROM members JOIN jobs ON jobs.id = members.job_id AND jobs.state = 'RUNNING'
         JOIN attempts ON attempts.id = members.attempt_id AND attempts.ended_at IS NULL
         WHERE is_lead = 0 AND members.state IN ('RELEASED', 'QUARANTINED', 'FENCED', 'LOST')
           AND NOT EXISTS (SELECT 1 FROM members AS later WHERE later.replaces = members.id)`,
      )
      .pluck();
  }

  read(): Snapshot {
    const fleet = this.fleet();
    return {
      gangs: this.#gangs(largestOf(fleet)),
      vacancies: this.#vacancies(),
      ...fleet,
      sharing: this.#sharing.read(),
    };
  }

  /** A job as it waits for its first workers, whether it does or not. @param fleet of the moment */
  gangOf(job: JobRow, fleet: Pick<Snapshot, "nodes">): WaitingGang {
    return this.#gang(job, largestOf(fleet), { isFurther: false, before: 0 });
  }

  /** What there is to run on. */
  fleet(): Pick<Snapshot, "nodes" | "workers"> {
    const { bridges } = this.#tables;
    const nodes = this.#nodes.all();
    const freePorts = bridges.freePorts(nodes);
    const gatewayPorts = bridges.gatewayPorts(nodes);
    const kept = this.#sharing.keptWorkers();
    const capacities = new Map(nodes.map((node) => [node.id, capacityBytes(memoryOf(node))]));
    return {
      nodes: nodes.map((node) => ({
        id: node.id,
        ownerId: node.owner_id,
        isReady: node.state === "READY",
        isCordoned: node.is_cordoned === 1,
        hasDisk: this.#heartbeats.hasDisk(node.id),
        freePorts: freePorts.get(node.id) ?? 0,
        gatewayPorts: gatewayPorts.get(node.id) ?? 0,
        capacityBytes: capacities.get(node.id) ?? 0,
        agentProtocol: agentProtocolOf(node),
      })),
      workers: this.#workers.all().map((worker) => ({
        ...this.#worker(worker),
        keptFor: kept.get(worker.id) ?? null,
      })),
    };
  }

  /** Of each job that waits the first; of those that run, as many more as their workloads want. What a newer release accepted waits for it. */
  #gangs(largestBytes: number): WaitingGang[] {
    const { jobs, workloads } = this.#tables;
    const isKnown = ({ kind }: JobRow) => workloads.has(kind);
    const growing = jobs.growing().filter(isKnown);
    const living = growing.length === 0 ? new Map<string, number>() : jobs.livingGangs();
    return [
      ...jobs
        .queued()
        .filter(isKnown)
        .map((job) => this.#gang(job, largestBytes, { isFurther: false, before: 0 })),
      ...growing.flatMap((job) =>
        Array.from({ length: workloads.of(job).furtherGangs(job) }, (_, at) =>
          this.#gang(job, largestBytes, {
            isFurther: true,
            before: (living.get(job.id) ?? 0) + at,
          }),
        ),
      ),
    ];
  }

  #gang(
    job: JobRow,
    largestBytes: number,
    { isFurther, before }: { isFurther: boolean; before: number },
  ): WaitingGang {
    const workload = this.#tables.workloads.of(job);
    const { workers: size, hub } = workload.gang(job);
    return {
      ...{ job: job.id, ...placementDemandOf(job), isReached: workload.isReached, size, isFurther },
      runsMs: job.time_limit_ms === null ? null : Math.max(0, job.time_limit_ms - job.ran_ms),
      ...{ project: job.project_id, priority: priorityOf(workload.jobClass, before) },
      agentProtocol: workload.agentProtocol(job),
      hubBytes: hub === null ? null : Math.min(hub.bytes, largestBytes),
      ...(workload.hasSeveralGangs ? { before } : {}),
    };
  }

  #worker(worker: HeldWorkerRow): PlacementWorker {
    const { workloads } = this.#tables;
    const { held_by: kind } = worker;
    return {
      id: worker.id,
      node: worker.node_id,
      model: worker.model,
      memoryBytes: worker.memory_bytes,
      device: deviceFactsOf(worker),
      isHealthy: worker.is_healthy === 1 && worker.is_quarantined === 0,
      isFree: worker.is_held === 0,
      whyHeld: kind !== null && workloads.has(kind) ? workloads.of({ kind }).whyHeld : null,
    };
  }

  /** Of running jobs that have a member beside the lead which let go; most have none. */
  #vacancies(): Vacancy[] {
    const { jobs, members, workloads } = this.#tables;
    return this.#vacant.all().flatMap((jobId) => {
      const job = jobs.get(jobId)!;
      const attempt = jobs.liveAttempt(jobId)!;
      const home = members.ofAttempt(attempt.id).find(({ is_lead }) => is_lead === 1)!.node_id;
      return this.#transitions.vacancies(jobId).map(({ member, spending }) => ({
        ...placementDemandOf({ ...job, ...spending }),
        agentProtocol: workloads.of(job).agentProtocol(job),
        ...{ job: jobId, member: member.id, home, hasPort: attempt.bridge_port !== null },
      }));
    });
  }
}

/** A guess from its model that no node has room for is none: the largest is tried. */
function largestOf({ nodes }: Pick<Snapshot, "nodes">): number {
  return Math.max(0, ...nodes.map(({ capacityBytes: bytes }) => bytes));
}

function memoryOf({ inventory }: NodeRow): number {
  return (JSON.parse(inventory ?? "null") as Inventory | null)?.memoryBytes ?? 0;
}

/** What a job asks of its workers, whichever of its members gets them. */
function placementDemandOf(
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
