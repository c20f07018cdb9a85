import type { Inventory } from "@resontech/contracts/agent-protocol";
import type { WriteHandle } from "../db/open-database.ts";
import { Prepared } from "../db/prepared.ts";
import { imageOfHub, type MemberImage } from "./decisions/member-image.ts";
import { type NodeSize, nodeSizeOf } from "./decisions/resources.ts";
import { imagesOf } from "./job-images.ts";
import type { JobRow, NodeRow, WorkerRow } from "./rows.ts";
import type { KernelTables } from "./kernel-tables.ts";
import type { MemberPlan } from "./workload.ts";

/** A worker or node of the plan is not as the snapshot had it. */
export class BindFailed extends Error {
  override readonly name = "BindFailed";
}

export type NewMember = {
  node: string;
  plan: MemberPlan;
  /** Its place in the gang, and the workers of its node that it holds; null for the member that holds none. */
  place: { index: number; workers: readonly string[] } | null;
  /** Member of the same attempt and site whose place it takes. */
  replaces: string | null;
  /** Null: its job's. */
  image: MemberImage | null;
};

/** Makes members with their first fences, and takes the workers that they hold. */
export class MemberMaker {
  readonly #db: WriteHandle;
  readonly #prepared: Prepared;
  readonly #tables: KernelTables;

  constructor(db: WriteHandle, tables: KernelTables) {
    this.#db = db;
    this.#prepared = new Prepared(db);
    this.#tables = tables;
  }

  /** Inside a transaction. @returns its id */
  create(job: JobRow, attempt: string, { node, plan, place, replaces, image }: NewMember): string {
    const { changes, clock, meta, members, jobs, records } = this.#tables;
    const now = clock.now();
    const { role, site, isLead, resources } = plan;
    const id = this.#freeId(`${attempt}-${site ?? role}`);
    const fence = { generation: meta.number("generation"), counter: 1 };
    const worker = place?.workers[0] ?? null;
    this.#prepared.run(
      `INSERT INTO members (id, attempt_id, job_id, role, is_lead, site, shard_index, node_id, worker_id, state, version, desired,
           generation, counter, resources, replaces, image, state_since, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'LEASED', 1, 'run', ?, ?, ?, ?, ?, ?, ?)`,
      ...[id, attempt, job.id, role, Number(isLead), site, place?.index ?? null, node],
      ...[
        // The first alone: leases have them all.
        worker,
        fence.generation,
        fence.counter,
        JSON.stringify(resources),
        replaces,
        image === null ? null : JSON.stringify(image),
        now,
        now,
      ],
    );
    members.recordFence(id, fence, node, now);
    for (const held of place?.workers ?? [])
      this.#prepared.run(
        "INSERT INTO leases (worker_id, member_id, job_id, generation, counter, acquired_at) VALUES (?, ?, ?, ?, ?, ?)",
        ...[held, id, job.id, fence.generation, fence.counter, now],
      );
    changes.note({
      kind: "member-added",
      job: job.id,
      member: id,
      attempt,
      role,
      site,
      node,
      worker,
      workers: [...(place?.workers ?? [])],
      replaces,
    });
    jobs.journal({
      ...{
        jobId: job.id,
        memberId: id,
        attemptId: attempt,
        from: null,
        to: "LEASED",
        event: "lease",
        reason: null,
      },
      ...{ ...fence, at: now },
    });
    this.#warnOfTorch(job, site, image);
    records.member(members.get(id)!, null, job, null);
    return id;
  }

  /** Two versions of torch may round differently, and one may write what the other can't read. */
  #warnOfTorch(job: JobRow, site: string | null, image: MemberImage | null): void {
    const images = imagesOf(job);
    if (site === null || image === null || images === null) return;
    const { torch } = imageOfHub(images);
    if (image.torch !== torch)
      this.#tables.warnings.note(job.id, {
        site,
        topic: "torch-version",
        text: `its image ${image.profile} has torch ${image.torch ?? "none"}, the server ${torch ?? "none"}`,
      });
  }

  /** @throws BindFailed */
  readyNode(id: string): NodeRow {
    const node = this.#db.prepare<[string], NodeRow>("SELECT * FROM nodes WHERE id = ?").get(id);
    if (node === undefined || node.state !== "READY" || node.is_cordoned === 1)
      throw new BindFailed(`node ${id} is not ready`);
    return node;
  }

  /** @throws BindFailed */
  freeWorker(id: string): WorkerRow {
    const worker = this.#db
      .prepare<[string], WorkerRow>(
        `SELECT * FROM workers WHERE id = ? AND is_healthy = 1 AND is_present = 1 AND is_quarantined = 0
           AND NOT EXISTS (SELECT 1 FROM leases WHERE worker_id = workers.id AND released_at IS NULL)`,
      )
      .get(id);
    if (worker === undefined) throw new BindFailed(`worker ${id} is not free`);
    return worker;
  }

  /** The first of a place has its plain name. */
  #freeId(place: string): string {
    const { members } = this.#tables;
    let id = place;
    for (let number = 2; members.get(id) !== undefined; number++) id = `${place}-${number}`;
    return id;
  }
}

/** @throws BindFailed */
export function sizeOf(node: NodeRow): NodeSize {
  const inventory = JSON.parse(node.inventory ?? "null") as Inventory | null;
  if (inventory === null) throw new BindFailed(`node ${node.id} has not registered`);
  return nodeSizeOf(inventory);
}
