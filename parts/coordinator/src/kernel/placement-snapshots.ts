import { type Inventory, SEVERAL_WORKERS_SINCE } from "@resontech/contracts/agent-protocol";
import { ChangedRows } from "../db/changed-rows.ts";
import type { WriteHandle } from "../db/open-database.ts";
import type { WorkerSelection } from "./accepted-task.ts";
import { agentProtocolOf } from "./agent-protocol-of.ts";
import type { Snapshot } from "./decisions/placement.ts";
import type {
  PlacementNode,
  PlacementWorker,
  Vacancy,
  WaitingGang,
} from "./decisions/placement-facts.ts";
import { capacityBytes, nodeSizeOf } from "./decisions/resources.ts";
import type { Heartbeats } from "./heartbeats.ts";
import { deviceFactsOf, imagesOf } from "./job-images.ts";
import { gateOwner } from "./decisions/node-gate.ts";
import { limitsProjects, poolUseOf } from "./decisions/pool-ledger.ts";
import { RESERVED_AFTER_MS } from "./decisions/reservation.ts";
import { priorityOf } from "./decisions/priorities.ts";
import type { KernelTables } from "./kernel-tables.ts";
import { nodeScoreOf, type NodeStanding } from "./decisions/node-score.ts";
import type { NodeGates } from "./node-gates.ts";
import type { NodeStandings } from "./node-standings.ts";
import type { JobRow, NodeRow, WorkerRow } from "./rows.ts";
import type { SharingSnapshots } from "./sharing-snapshots.ts";
import type { Transitions } from "./transitions.ts";
import { jobClassOf, type Workload } from "./workload.ts";

type HeldWorkerRow = WorkerRow & { is_held: number; held_by: string | null };

const WATCHED = {
  job: { table: "jobs", id: "id", ignored: ["waiting_for", "version"] },
  node: { table: "nodes", id: "id" },
  worker: { table: "workers", id: "id" },
  lease: { table: "leases", id: "worker_id" },
} as const;

type KeptNode = { row: NodeRow } & Pick<PlacementNode, "capacityBytes" | "size">;

/**
 * What waits and what is there, as the rows have it at one moment: all that a plan is made from. Rows are read once, and again when they changed: what did
 * not is the same object in the next snapshot.
 */
export class PlacementSnapshots {
  readonly #db: WriteHandle;
  readonly #tables: KernelTables;
  readonly #transitions: Pick<Transitions, "vacancies">;
  readonly #heartbeats: Pick<Heartbeats, "hasDisk">;
  readonly #sharing: Pick<
    SharingSnapshots,
    "read" | "running" | "leaving" | "forget" | "keptWorkers" | "sleepers"
  >;
  readonly #gates: Pick<NodeGates, "read">;
  readonly #standings: Pick<NodeStandings, "read">;
  readonly #changed: ChangedRows<keyof typeof WATCHED>;
  readonly #node;
  readonly #worker;
  readonly #job;
  readonly #vacant;
  /** Null until they are read for the first time. */
  #nodes: Map<string, KeptNode> | null = null;
  readonly #workers = new Map<string, PlacementWorker>();
  #queued = new Map<string, WaitingGang>();
  /** The most memory that a node has. */
  #largestBytes = 0;

  constructor(
    db: WriteHandle,
    tables: KernelTables,
    transitions: Pick<Transitions, "vacancies">,
    heartbeats: Pick<Heartbeats, "hasDisk">,
    sharing: Pick<
      SharingSnapshots,
      "read" | "running" | "leaving" | "forget" | "keptWorkers" | "sleepers"
    >,
    gates: Pick<NodeGates, "read">,
    standings: Pick<NodeStandings, "read">,
  ) {
    this.#standings = standings;
    this.#gates = gates;
    this.#db = db;
    this.#tables = tables;
    this.#sharing = sharing;
    this.#transitions = transitions;
    this.#heartbeats = heartbeats;
    this.#changed = new ChangedRows(db, "placement", WATCHED);
    const rowsOf = <Row>(sql: string, id: string, order = "") => ({
      all: db.prepare<[], Row>(`${sql} ${order}`),
      one: db.prepare<[string], Row>(`${sql} AND ${id} = ?`),
    });
    this.#node = rowsOf<NodeRow>("SELECT * FROM nodes WHERE TRUE", "id");
    this.#worker = rowsOf<HeldWorkerRow>(
      `SELECT workers.*, lease.worker_id IS NOT NULL AS is_held, jobs.kind AS held_by
       FROM workers LEFT JOIN leases AS lease ON lease.worker_id = workers.id AND lease.released_at IS NULL
         LEFT JOIN jobs ON jobs.id = lease.job_id
       WHERE is_present = 1`,
      "workers.id",
    );
    this.#job = rowsOf<JobRow>(
      "SELECT * FROM jobs WHERE state = 'QUEUED' AND ended_at IS NULL",
      "id",
      "ORDER BY coalesce(line, sequence)",
    );
    // From what runs down: else all members that ever were are looked at.
    this.#vacant = db
      .prepare<[], string>(
        `SELECT DISTINCT jobs.id FROM jobs CROSS JOIN attempts ON attempts.job_id = jobs.id AND attempts.ended_at IS NULL
         CROSS JOIN members ON members.attempt_id = attempts.id
         WHERE jobs.state = 'RUNNING' AND jobs.ended_at IS NULL AND is_lead = 0 AND members.state IN ('RELEASED', 'QUARANTINED', 'FENCED', 'LOST')
           AND NOT EXISTS (SELECT 1 FROM members AS later WHERE later.replaces = members.id)`,
      )
      .pluck();
  }

  read(): Snapshot {
    this.#keep();
    const queued = [...this.#queued.values()];
    const now = this.#tables.clock.now();
    const sharing = this.#sharing.read();
    const isLong = queued.some(
      ({ size, waitingSince = now }) => size > 1 && now - waitingSince >= RESERVED_AFTER_MS,
    );
    const fleet = this.#fleetOf(this.#nodes!, this.#workers);
    const hasLimits = limitsProjects(fleet.nodes);
    const isWatched =
      isLong || hasLimits || fleet.nodes.some(({ gate }) => gateOwner(gate) !== null);
    if (sharing === undefined && !isWatched) this.#sharing.forget();
    const sleepers = this.#sharing.sleepers();
    const running = isWatched ? (sharing?.running ?? this.#sharing.running()) : [];
    const holders = hasLimits ? [...running, ...this.#sharing.leaving()] : [];
    return {
      ...(isWatched ? { backfill: { now, running } } : {}),
      ...(hasLimits ? { poolUse: poolUseOf(fleet.nodes, fleet.workers, holders) } : {}),
      gangs: [...queued, ...this.#further()],
      vacancies: this.#vacancies(),
      ...fleet,
      sharing,
      ...(sleepers.length === 0 ? {} : { sleepers }),
    };
  }

  /** All that wait for their first workers, in their order. Outside a transaction. */
  queued(): WaitingGang[] {
    this.#keep();
    return [...this.#queued.values()];
  }

  /** A job as it waits for its first workers, whether it does or not. @param fleet of the moment */
  gangOf(job: JobRow, { nodes }: Pick<Snapshot, "nodes">): WaitingGang {
    const largestBytes = Math.max(0, ...nodes.map((node) => node.capacityBytes));
    return this.#gang(job, largestBytes, { isFurther: false, before: 0 });
  }

  /** What there is to run on; inside a transaction, what there was at the last snapshot. */
  fleet(): Pick<Snapshot, "nodes" | "workers"> {
    if (!this.#db.inTransaction) this.#keep();
    if (this.#nodes !== null) return this.#fleetOf(this.#nodes, this.#workers);
    // What a transaction that may be rolled back sees is kept by nobody.
    return this.#fleetOf(
      new Map(this.#node.all.all().map((row) => [row.id, keptNode(row)])),
      new Map(this.#worker.all.all().map((row) => [row.id, this.#workerOf(row)])),
    );
  }

  /** What is known of each node now. */
  standings(): Map<string, NodeStanding> {
    if (!this.#db.inTransaction) this.#keep();
    const rows = [...(this.#nodes?.values() ?? [])].map(({ row }) => row);
    return this.#standings.read(rows, this.#workers.values());
  }

  #fleetOf(
    nodes: ReadonlyMap<string, KeptNode>,
    workers: ReadonlyMap<string, PlacementWorker>,
  ): Pick<Snapshot, "nodes" | "workers"> {
    const { bridges } = this.#tables;
    const kept = [...nodes.values()];
    const rows = kept.map(({ row }) => row);
    const { freePorts, gatewayPorts } = bridges.portsLeft(rows);
    const keptFor = this.#sharing.keptWorkers();
    const gates = this.#gates.read();
    const all = [...workers.values()];
    const standings = this.#standings.read(rows, all);
    return {
      nodes: kept.map(({ row, ...size }) => ({
        ...{ id: row.id, ...size },
        ownerId: row.owner_id,
        isReady: row.state === "READY",
        isCordoned: row.is_cordoned === 1,
        hasDisk: this.#heartbeats.hasDisk(row.id),
        freePorts: freePorts.get(row.id) ?? 0,
        gatewayPorts: gatewayPorts.get(row.id) ?? 0,
        agentProtocol: agentProtocolOf(row),
        ...(gates.has(row.id) ? { gate: gates.get(row.id)! } : {}),
        score: nodeScoreOf(standings.get(row.id)!),
      })),
      workers:
        keptFor.size === 0
          ? all
          : all.map((worker) =>
              keptFor.has(worker.id) ? { ...worker, keptFor: keptFor.get(worker.id)! } : worker,
            ),
    };
  }

  /** Brings what is kept up to date. */
  #keep(): void {
    const changed = this.#changed.take();
    const isFirst = this.#nodes === null;
    const nodes = (this.#nodes ??= new Map());
    const of = <Row extends { id: string }>(
      { all, one }: { all: { all: () => Row[] }; one: { get: (id: string) => Row | undefined } },
      ids: Iterable<string>,
    ): [string, Row | undefined][] =>
      isFirst ? all.all().map((row) => [row.id, row]) : [...ids].map((id) => [id, one.get(id)]);

    for (const [id, row] of of(this.#node, changed.get("node") ?? []))
      if (row === undefined) nodes.delete(id);
      else nodes.set(id, keptNode(row));
    const workers = new Set([...(changed.get("worker") ?? []), ...(changed.get("lease") ?? [])]);
    for (const [id, row] of of(this.#worker, workers))
      if (row === undefined) this.#workers.delete(id);
      else this.#workers.set(id, this.#workerOf(row));
    // A guess from its model that no node has room for is none: the largest is tried.
    const largest = Math.max(0, ...[...nodes.values()].map((node) => node.capacityBytes));
    const isOther = largest !== this.#largestBytes;
    this.#largestBytes = largest;
    if (isOther && !isFirst)
      this.#queued = new Map(this.#job.all.all().flatMap((job) => this.#queuedOf(job)));
    else this.#keepQueue(of(this.#job, changed.get("job") ?? []));
  }

  /** @param jobs that changed, with their rows while they wait */
  #keepQueue(jobs: readonly (readonly [string, JobRow | undefined])[]): void {
    let isInLine = true;
    let last = [...this.#queued.values()].at(-1)?.sequence ?? 0;
    for (const [id, row] of jobs) {
      this.#queued.delete(id);
      for (const [, gang] of row === undefined ? [] : this.#queuedOf(row)) {
        isInLine &&= gang.sequence > last;
        last = gang.sequence;
        this.#queued.set(id, gang);
      }
    }
    if (!isInLine)
      this.#queued = new Map([...this.#queued].toSorted(([, a], [, b]) => a.sequence - b.sequence));
  }

  /** The first gang of a job that waits. What a newer release accepted waits for it. */
  #queuedOf(job: JobRow): [string, WaitingGang][] {
    if (!this.#tables.workloads.has(job.kind)) return [];
    return [[job.id, this.#gang(job, this.#largestBytes, { isFurther: false, before: 0 })]];
  }

  /** Of jobs that run, as many more as their workloads want. */
  #further(): WaitingGang[] {
    const { jobs, workloads } = this.#tables;
    const growing = jobs.growing().filter(({ kind }) => workloads.has(kind));
    const living = growing.length === 0 ? new Map<string, number>() : jobs.livingGangs();
    return growing.flatMap((job) =>
      Array.from({ length: workloads.of(job).furtherGangs(job) }, (_, at) =>
        this.#gang(job, this.#largestBytes, {
          isFurther: true,
          before: (living.get(job.id) ?? 0) + at,
        }),
      ),
    );
  }

  #gang(
    job: JobRow,
    largestBytes: number,
    { isFurther, before }: { isFurther: boolean; before: number },
  ): WaitingGang {
    const workload = this.#tables.workloads.of(job);
    const { workers: size, hub } = workload.gang(job);
    const workersEach = workload.workersEach(job);
    return {
      ...{ job: job.id, ...placementDemandOf(job), isReached: workload.isReached, size, isFurther },
      ...partOf(workload, job),
      runsMs: job.time_limit_ms === null ? null : Math.max(0, job.time_limit_ms - job.ran_ms),
      project: job.project_id,
      priority: priorityOf(
        ...([jobClassOf(this.#tables.workloads, job), before, workload.leastGangs(job)] as const),
      ),
      ...(job.pool === null ? {} : { pool: job.pool }),
      ...(job.is_preemptible === 0 ? { isOnlyGuaranteed: true } : {}),
      agentProtocol: protocolOf(workload.agentProtocol(job), workersEach),
      hubBytes: hub === null ? null : Math.min(hub.bytes, largestBytes),
      ...(workload.hasSeveralGangs ? { before } : {}),
      ...(isFurther ? {} : { waitingSince: job.state_since }),
    };
  }

  /** By which a job that runs is let in on another node. */
  #entryOf(job: JobRow): Pick<Vacancy, "project" | "priority" | "runsMs" | "pool" | "before"> {
    const { hasSeveralGangs, jobClass } = this.#tables.workloads.of(job);
    const { expires_at: end, project_id: project, pool } = job;
    return {
      ...{ project, priority: priorityOf(jobClass, 0) },
      ...(end === null ? {} : { runsMs: Math.max(0, end - this.#tables.clock.now()) }),
      ...(pool === null ? {} : { pool }),
      ...(hasSeveralGangs ? { before: 0 } : {}),
    };
  }

  #workerOf(worker: HeldWorkerRow): PlacementWorker {
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
      const workersEach = workloads.of(job).workersEach(job);
      return this.#transitions.vacancies(jobId).map(({ member, spending }) => ({
        ...placementDemandOf({ ...job, ...spending }),
        ...this.#entryOf(job),
        ...partOf(workloads.of(job), job),
        agentProtocol: protocolOf(workloads.of(job).agentProtocol(job), workersEach),
        ...{ job: jobId, member: member.id, home, hasPort: attempt.bridge_port !== null },
      }));
    });
  }
}

/** An agent that is older may take the first of several workers for all of them. */
function protocolOf(version: number, workersEach: number): number {
  return workersEach === 1 ? version : Math.max(version, SEVERAL_WORKERS_SINCE);
}

function keptNode(row: NodeRow): KeptNode {
  const inventory = JSON.parse(row.inventory ?? "null") as Inventory | null;
  if (inventory === null) return { row, capacityBytes: 0 };
  return {
    ...{ row, capacityBytes: capacityBytes(inventory.memoryBytes) },
    size: nodeSizeOf(inventory),
  };
}

function partOf(
  { asks, workersEach }: Pick<Workload, "asks" | "workersEach">,
  job: JobRow,
): Pick<WaitingGang, "workersEach" | "asks"> {
  const [each, asked] = [workersEach(job), asks(job)];
  return {
    ...(each === 1 ? {} : { workersEach: each }),
    ...(asked.cpuMillis === null && asked.memoryBytes === null ? {} : { asks: asked }),
  };
}

/** What a job asks of its workers, whichever of its members gets them. */
function placementDemandOf(
  job: JobRow,
): Omit<Vacancy, "job" | "member" | "home" | "hasPort" | "agentProtocol"> {
  return {
    sequence: job.line ?? job.sequence,
    userId: job.user_id,
    selection: JSON.parse(job.selection) as WorkerSelection,
    onlyMine: job.only_mine === 1,
    estimatedMemoryMb: job.estimated_memory_mb,
    avoidNodes: JSON.parse(job.avoid_nodes) as string[],
    images: imagesOf(job),
  };
}
