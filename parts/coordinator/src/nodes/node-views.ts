/** What administrators and the host's root are shown of nodes. Of what runs there the states alone, nothing that a user wrote into a job. */
import type { Inventory, InventoryWorker } from "@resontech/contracts/agent-protocol";
import type { NodeHealth } from "@resontech/contracts/coordinator-health";
import type {
  FleetDevicesReply,
  NodeDetailReply,
  NodeReply,
} from "@resontech/contracts/http-nodes";
import type { ReadHandle } from "../db/open-database.ts";
import { WORKERS_OF_MEMBER } from "../db/workers-of-member.ts";
import { fleetDevices } from "./fleet-devices.ts";

/** Members that still hold a worker, or have yet to prove that nothing is left of them. */
const HOLDING = "state NOT IN ('RELEASED', 'QUARANTINED')";

type Member = NodeDetailReply["members"][number];
type Worker = NodeDetailReply["workers"][number];

export class NodeViews {
  readonly #db: ReadHandle;
  readonly #health: () => readonly NodeHealth[];

  constructor(db: ReadHandle, health: () => readonly NodeHealth[]) {
    this.#db = db;
    this.#health = health;
  }

  list(): NodeReply[] {
    const count = this.#db.prepare<[string], { workers: number; busy: number }>(
      `SELECT count(*) AS workers, count((SELECT 1 FROM leases l WHERE l.worker_id = w.id AND l.released_at IS NULL)) AS busy
       FROM workers w WHERE w.node_id = ? AND w.is_present = 1`,
    );
    return this.#health().map(({ node, state, cordonReason, silentMs, diskFreeBytes }) => ({
      ...{ node, state, ...count.get(node)!, drained: cordonReason },
      silentS: silentMs === null ? null : Math.round(silentMs / 1_000),
      freeBytes: diskFreeBytes,
    }));
  }

  devices(): FleetDevicesReply {
    return fleetDevices(this.#db, this.#health());
  }

  /** Null for one that is not there. */
  find(id: string): NodeDetailReply | null {
    const node = this.list().find((each) => each.node === id);
    if (node === undefined) return null;
    const members = this.#db
      .prepare<[string], Omit<Member, "workers"> & { workers: string }>(
        `SELECT job_id AS job, role, site, worker_id AS worker, ${WORKERS_OF_MEMBER} AS workers, state FROM members
         WHERE node_id = ? AND ${HOLDING} ORDER BY job_id, is_lead DESC, site`,
      )
      .all(id)
      .map((member) => ({ ...member, workers: JSON.parse(member.workers) as string[] }));
    return { node, members, workers: this.#workers(id) };
  }

  /** What the node's agent told when it last registered, with what the coordinator holds against a worker. */
  #workers(id: string): Worker[] {
    const inventory = this.#db
      .prepare<[string], string | null>("SELECT inventory FROM nodes WHERE id = ?")
      .pluck()
      .get(id);
    const told = inventory === null || inventory === undefined ? [] : workersOf(inventory);
    const quarantined = new Map(
      this.#db
        .prepare<[string], { id: string; reason: string }>(
          `SELECT id, coalesce(quarantine_reason, 'unknown') AS reason FROM workers
           WHERE node_id = ? AND is_quarantined = 1`,
        )
        .all(id)
        .map((row) => [row.id, row.reason]),
    );
    const health = this.#health().find(({ node }) => node === id);
    const uses = new Map(health?.devices?.map(({ worker, ...use }) => [worker, use]));
    return told.map((worker) => ({
      ...{ worker: worker.id, model: worker.model, memoryBytes: worker.memoryBytes },
      unfit:
        quarantined.get(worker.id) ?? (worker.healthy ? null : (worker.reason ?? "not healthy")),
      architecture: worker.architecture ?? null,
      driver: worker.driver ?? null,
      pciAddress: worker.pciAddress ?? null,
      numaNode: worker.numaNode ?? null,
      grade: worker.grade ?? null,
      shortOf: worker.shortOf ?? [],
      use: uses.get(worker.id) ?? null,
    }));
  }
}

/** Reads workers as they were stored when they were received, by the schema of that time. */
function workersOf(inventory: string): InventoryWorker[] {
  return (JSON.parse(inventory) as Inventory).workers;
}
