import type { Inventory } from "@resontech/contracts/agent-protocol";
import type { WriteHandle } from "../db/open-database.ts";
import { Prepared } from "../db/prepared.ts";
import { clientResources, type MemberResources, type NodeSize, serverResources } from "./decisions/resources.ts";
import type { Placement } from "./decisions/placement.ts";
import { chooseResumePoint } from "./decisions/resume-point.ts";
import type { JobRow, NodeRow, WorkerRow } from "./rows.ts";
import type { Transitions } from "./transitions.ts";

/** NVFlare's port in the server's container; each attempt has a network of its own. */
const SERVER_PORT = 8002;

/** A worker or node of the plan is not as the snapshot had it. */
export class BindFailed extends Error {
  override readonly name = "BindFailed";
}

/** Applies a plan: attempt, members with their first fences, and leases, all in the transaction that moves the job. */
export class Placements {
  readonly #db: WriteHandle;
  readonly #prepared: Prepared;
  readonly #transitions: Transitions;

  constructor(db: WriteHandle, transitions: Transitions) {
    this.#db = db;
    this.#prepared = new Prepared(db);
    this.#transitions = transitions;
  }

  /**
   * Inside a transaction. False when the job is no longer waiting.
   * @throws BindFailed when a worker was taken or its node went away; the transaction must be rolled back
   */
  apply(placement: Placement): boolean {
    return this.#transitions.moveJob(placement.job, "place", { createAttempt: (job) => this.#createAttempt(job, placement) });
  }

  #createAttempt(job: JobRow, { serverNode, workers: workerIds }: Placement): void {
    const { clock, commands, checkpoints } = this.#transitions.parts;
    const now = clock.now();
    const workers = workerIds.map((id) => this.#freeWorker(id));
    const hosts = new Map([serverNode, ...workers.map(({ node_id }) => node_id)].map((id) => [id, this.#node(id)]));
    const home = hosts.get(serverNode)!;
    const port = hosts.size === 1 ? null : this.#bridgePort(home);
    const number = job.attempts_made + 1;
    const attempt = `${job.id}-a${number}`;
    const resume = chooseResumePoint(
      { isResumable: job.resumable === 1, firstRound: job.first_round, numRounds: job.num_rounds },
      checkpoints.ofJob(job.id),
    );
    this.#prepared.run(
      `INSERT INTO attempts (id, job_id, number, server_name, server_port, bridge_node, bridge_port, start_round, resumed_from, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[attempt, job.id, number, `${attempt}-server`, SERVER_PORT, port === null ? null : serverNode, port],
      ...[resume?.startRound ?? job.first_round, resume?.modelUpload ?? null, now],
    );

    const shardBytes = JSON.parse(job.shard_uncompressed_bytes) as number[];
    const forServer = serverResources(this.#size(home), this.#modelBytes(job.id));
    this.#createMember(job, attempt, serverNode, null, forServer, now);
    for (const [shard, worker] of workers.entries()) {
      const memory = worker.kind === "cpu" ? worker.memory_bytes : null;
      const member = this.#createMember(
        job,
        attempt,
        worker.node_id,
        { shard, workerId: worker.id },
        clientResources(this.#size(hosts.get(worker.node_id)!), memory, shardBytes[shard] ?? 0),
        now,
      );
      this.#lease(worker.id, member, job.id, now);
    }
    for (const node of hosts.keys()) commands.desiredChanged(node);
  }

  #bridgePort(node: NodeRow): number {
    const port = this.#transitions.parts.bridges.freePort(node);
    if (port === null) throw new BindFailed(`node ${node.id} has no job port left`);
    return port;
  }

  #createMember(
    job: JobRow,
    attempt: string,
    node: string,
    client: { shard: number; workerId: string } | null,
    resources: MemberResources,
    now: number,
  ): string {
    const { meta, members, jobs, records } = this.#transitions.parts;
    const site = client === null ? null : `site-${client.shard + 1}`;
    const id = `${attempt}-${site ?? "server"}`;
    const fence = { generation: meta.number("generation"), counter: 1 };
    this.#prepared.run(
      `INSERT INTO members (id, attempt_id, job_id, role, site, shard_index, node_id, worker_id, state, version, desired,
           generation, counter, resources, state_since, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'LEASED', 1, 'run', ?, ?, ?, ?, ?)`,
      ...[id, attempt, job.id, client === null ? "server" : "client", site, client?.shard ?? null, node],
      ...[client?.workerId ?? null, fence.generation, fence.counter, JSON.stringify(resources), now, now],
    );
    members.recordFence(id, fence, node, now);
    jobs.journal({
      ...{ jobId: job.id, memberId: id, attemptId: attempt, from: null, to: "LEASED", event: "lease", reason: null },
      ...{ ...fence, at: now },
    });
    records.member(members.get(id)!, null, job, null);
    return id;
  }

  #lease(workerId: string, memberId: string, jobId: string, now: number): void {
    const generation = this.#transitions.parts.meta.number("generation");
    this.#prepared.run(
      "INSERT INTO leases (worker_id, member_id, job_id, generation, counter, acquired_at) VALUES (?, ?, ?, ?, 1, ?)",
      workerId,
      memberId,
      jobId,
      generation,
      now,
    );
  }

  #node(id: string): NodeRow {
    const node = this.#db.prepare<[string], NodeRow>("SELECT * FROM nodes WHERE id = ?").get(id);
    if (node === undefined || node.state !== "READY" || node.is_cordoned === 1) throw new BindFailed(`node ${id} is not ready`);
    return node;
  }

  #freeWorker(id: string): WorkerRow {
    const worker = this.#db
      .prepare<[string], WorkerRow>(
        `SELECT * FROM workers WHERE id = ? AND is_healthy = 1 AND is_present = 1 AND is_quarantined = 0
           AND NOT EXISTS (SELECT 1 FROM leases WHERE worker_id = workers.id AND released_at IS NULL)`,
      )
      .get(id);
    if (worker === undefined) throw new BindFailed(`worker ${id} is not free`);
    return worker;
  }

  #size(node: NodeRow): NodeSize {
    const inventory = JSON.parse(node.inventory ?? "null") as Inventory | null;
    if (inventory === null) throw new BindFailed(`node ${node.id} has not registered`);
    return { cpuCores: inventory.cpuCores, memoryBytes: inventory.memoryBytes, workers: inventory.workers.length };
  }

  #modelBytes(jobId: string): number {
    return this.#db
      .prepare<[string], number>("SELECT coalesce(sum(size_bytes), 0) FROM job_inputs WHERE job_id = ? AND kind = 'model'")
      .pluck()
      .get(jobId)!;
  }
}
