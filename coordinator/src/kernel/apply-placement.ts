import type { WriteHandle } from "../db/open-database.ts";
import { Prepared } from "../db/prepared.ts";
import { clientResources, type ServerFacts, serverResources } from "./decisions/resources.ts";
import type { Placement } from "./decisions/placement.ts";
import { chooseResumePoint } from "./decisions/resume-point.ts";
import { BindFailed, MemberMaker, sizeOf } from "./member-maker.ts";
import type { JobRow, NodeRow } from "./rows.ts";
import type { Transitions } from "./transitions.ts";

/** NVFlare's port in the server's container; each attempt has a network of its own. */
const SERVER_PORT = 8002;

/** Applies a plan: attempt, members with their first fences, and leases, all in the transaction that moves the job. */
export class Placements {
  readonly #prepared: Prepared;
  readonly #transitions: Transitions;
  readonly #maker: MemberMaker;

  constructor(db: WriteHandle, transitions: Transitions) {
    this.#prepared = new Prepared(db);
    this.#transitions = transitions;
    this.#maker = new MemberMaker(db, transitions.parts);
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
    const workers = workerIds.map((id) => this.#maker.freeWorker(id));
    const hosts = new Map([serverNode, ...workers.map(({ node_id }) => node_id)].map((id) => [id, this.#maker.readyNode(id)]));
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
    const forServer = serverResources(sizeOf(home), serverFactsOf(job));
    this.#maker.create(job, attempt, { node: serverNode, client: null, resources: forServer, replaces: null });
    for (const [shard, worker] of workers.entries()) {
      const memory = worker.kind === "cpu" ? worker.memory_bytes : null;
      this.#maker.create(job, attempt, {
        node: worker.node_id,
        client: { shard, workerId: worker.id },
        resources: clientResources(sizeOf(hosts.get(worker.node_id)!), memory, shardBytes[shard] ?? 0),
        replaces: null,
      });
    }
    for (const node of hosts.keys()) commands.desiredChanged(node);
  }

  #bridgePort(node: NodeRow): number {
    const port = this.#transitions.parts.bridges.freePort(node);
    if (port === null) throw new BindFailed(`node ${node.id} has no job port left`);
    return port;
  }
}

export function serverFactsOf(job: JobRow): ServerFacts {
  return {
    modelBytes: job.model_bytes,
    sites: job.shard_count,
    estimatedMemoryMb: job.estimated_memory_mb,
    knownBytes: job.server_memory_bytes,
  };
}
