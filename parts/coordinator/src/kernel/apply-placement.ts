import type { WriteHandle } from "../db/open-database.ts";
import { Prepared } from "../db/prepared.ts";
import { imageFor, imageOfHub, type MemberImage } from "./decisions/member-image.ts";
import { memberByMember } from "./decisions/member-bundles.ts";
import type { Placement } from "./decisions/placement.ts";
import type { WorkerFacts } from "./decisions/resources.ts";
import { deviceFactsOf, imagesOf } from "./job-images.ts";
import { BindFailed, MemberMaker, sizeOf } from "./member-maker.ts";
import type { JobRow, NodeRow, WorkerRow } from "./rows.ts";
import type { KernelTables } from "./kernel-tables.ts";
import type { Transitions } from "./transitions.ts";
import { NEVER_STARTS } from "./warning-table.ts";

/** Applies a plan: attempt, members with their first fences, and leases, all in the transaction that moves the job. */
export class Placements {
  readonly #prepared: Prepared;
  readonly #tables: KernelTables;
  readonly #transitions: Transitions;
  readonly #maker: MemberMaker;

  constructor(db: WriteHandle, tables: KernelTables, transitions: Transitions) {
    this.#prepared = new Prepared(db);
    this.#tables = tables;
    this.#transitions = transitions;
    this.#maker = new MemberMaker(db, tables);
  }

  /**
   * Inside a transaction. False when the job no longer wants the gang.
   * @throws BindFailed when a worker was taken or its node went away; the transaction must be rolled back
   */
  apply(placement: Placement): boolean {
    if (placement.isFurther) return this.#grow(placement);
    this.#tables.warnings.forget(placement.job, NEVER_STARTS.site, NEVER_STARTS.topic);
    return this.#transitions.moveJob(placement.job, "place", {
      createAttempt: (job) => this.#createAttempt(job, placement),
    });
  }

  /** One more gang of a job that runs. */
  #grow(placement: Placement): boolean {
    const { jobs, members, workloads } = this.#tables;
    const job = jobs.get(placement.job);
    if (job?.state !== "RUNNING" || workloads.of(job).furtherGangs(job) === 0) return false;
    const attempt = this.#createAttempt(job, placement);
    jobs.note(job.id, {
      ...{ replicas_due: job.replicas_due - 1, attempts_made: job.attempts_made + 1 },
      waiting_for: null,
    });
    for (const { id } of members.ofAttempt(attempt)) this.#transitions.startDeadline(id);
    return true;
  }

  /** @returns its id */
  #createAttempt(job: JobRow, { home: homeId, workers: workerIds }: Placement): string {
    const { clock, commands, checkpoints, workloads } = this.#tables;
    const workload = workloads.of(job);
    const now = clock.now();
    const workers = workerIds.map((id) => this.#maker.freeWorker(id));
    const hosts = new Map(
      [homeId, ...workers.map(({ node_id }) => node_id)].map((id) => [
        id,
        this.#maker.readyNode(id),
      ]),
    );
    const home = hosts.get(homeId)!;
    const reach = hosts.size > 1 ? "nodes" : "gateway";
    const port = hosts.size === 1 && !workload.isReached ? null : this.#bridgePort(home, reach);
    const number = job.attempts_made + 1;
    const attempt = `${job.id}-a${number}`;
    const resume = workload.resume(job, checkpoints.ofJob(job.id));
    this.#prepared.run(
      `INSERT INTO attempts (id, job_id, number, server_name, server_port, bridge_node, bridge_port, start_round, resumed_from, is_replica, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[
        attempt,
        job.id,
        number,
        `${attempt}-server`,
        workload.hubPort,
        port === null ? null : homeId,
        port,
      ],
      ...[resume?.startRound ?? job.first_round, resume?.modelUpload ?? null],
      ...[Number(workload.hasSeveralGangs), now],
    );

    const images = imagesOf(job);
    if (workload.gang(job).hub !== null)
      this.#maker.create(job, attempt, {
        node: homeId,
        plan: workload.hub(job, sizeOf(home)),
        place: null,
        replaces: null,
        image: images === null ? null : imageOfHub(images),
      });
    const held = memberByMember(workers, workload.workersEach(job));
    for (const [index, of] of held.entries()) {
      const node = hosts.get(of[0]!.node_id)!;
      this.#maker.create(job, attempt, {
        node: node.id,
        plan: workload.place(job, index, workerFactsOf(of), sizeOf(node)),
        place: { index, workers: of.map(({ id }) => id) },
        replaces: null,
        image: imageOn(images, of),
      });
    }
    for (const node of hosts.keys()) commands.desiredChanged(node);
    return attempt;
  }

  #bridgePort(node: NodeRow, reach: "nodes" | "gateway"): number {
    const port = this.#tables.bridges.freePort(node, reach);
    if (port === null) throw new BindFailed(`node ${node.id} has no job port left`);
    return port;
  }
}

/**
 * The image of a member that holds these.
 * @throws BindFailed where a worker's device is no longer one that an image of the job runs on, or another one than the first's does
 */
export function imageOn(
  images: readonly MemberImage[] | null,
  held: readonly WorkerRow[],
): MemberImage | null {
  if (images === null) return null;
  const found = held.map((worker) => imageFor(images, deviceFactsOf(worker)));
  for (const [at, image] of found.entries())
    if (image === null || image !== found[0])
      throw new BindFailed(`worker ${held[at]!.id} does not run the image of its member`);
  return found[0]!;
}

/** @param held workers of one member, which are of one node and kind */
export function workerFactsOf(held: readonly WorkerRow[]): WorkerFacts {
  const memoryBytes = held.reduce((sum, { memory_bytes: bytes }) => sum + bytes, 0);
  return { kind: held[0]!.kind, count: held.length, memoryBytes };
}
