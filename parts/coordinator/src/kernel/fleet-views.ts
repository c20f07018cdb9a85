import type { NodeHealth } from "@resontech/contracts/coordinator-health";
import { GPU_CATALOGUE } from "@resontech/contracts/gpu-catalogue";
import type { WriteHandle } from "../db/open-database.ts";
import type { Heartbeats } from "./heartbeats.ts";
import { priceCents } from "./decisions/worker-filter.ts";
import type { FleetModel, FleetStatus, WorkersStats, WorkerView } from "./fleet-view.ts";
import { deviceFactsOf } from "./job-images.ts";
import type { NodeRow, WorkerRow } from "./rows.ts";

const MIB = 1024 ** 2;

type FleetRow = WorkerRow & { node_state: string; is_cordoned: number; is_held: number };

/** Workers and nodes as routes and the operator see them. */
export class FleetViews {
  readonly #workers;
  readonly #jobStates;
  readonly #nodes;
  readonly #registered;
  readonly #quarantined;
  readonly #unhealthy;
  readonly #heartbeats: Heartbeats;

  constructor(db: WriteHandle, heartbeats: Heartbeats) {
    this.#heartbeats = heartbeats;
    this.#registered = db.prepare<[], NodeRow>(
      "SELECT * FROM nodes WHERE state <> 'REVOKED' ORDER BY id",
    );
    this.#quarantined = db.prepare<[string], { worker: string; reason: string }>(
      `SELECT id AS worker, coalesce(quarantine_reason, 'unknown') AS reason FROM workers
       WHERE node_id = ? AND is_present = 1 AND is_quarantined = 1 ORDER BY id`,
    );
    // What the agent says of its device stands in what it registered.
    this.#unhealthy = db.prepare<[string], { worker: string; reason: string; trial: number }>(
      `SELECT w.id AS worker, coalesce(json_extract(told.value, '$.reason'), 'its agent does not say why') AS reason,
         coalesce(json_extract(told.value, '$.onTrial'), 0) AS trial
       FROM workers w JOIN nodes n ON n.id = w.node_id
         LEFT JOIN json_each(n.inventory, '$.workers') AS told ON json_extract(told.value, '$.id') = w.id
       WHERE w.node_id = ? AND w.is_present = 1 AND w.is_healthy = 0 ORDER BY w.id`,
    );
    this.#workers = db.prepare<[], FleetRow>(
      `SELECT workers.*, nodes.state AS node_state, nodes.is_cordoned,
         EXISTS (SELECT 1 FROM leases WHERE worker_id = workers.id AND released_at IS NULL) AS is_held
       FROM workers JOIN nodes ON nodes.id = workers.node_id WHERE is_present = 1 ORDER BY workers.node_id, workers.id`,
    );
    this.#jobStates = db.prepare<[], { state: string; jobs: number }>(
      "SELECT state, count(*) AS jobs FROM jobs GROUP BY state",
    );
    this.#nodes = db.prepare<[], { node: string; state: string; workers: number }>(
      `SELECT id AS node, state, (SELECT count(*) FROM workers WHERE node_id = nodes.id AND is_present = 1) AS workers
       FROM nodes ORDER BY id`,
    );
  }

  workers(): WorkersStats {
    const workers = this.#workers.all().map(view);
    const online = workers.filter(({ status }) => status !== "unavailable");
    return {
      onlineCount: online.length,
      totalFreeMemoryMb: online.reduce((sum, { freeMemoryMb }) => sum + freeMemoryMb, 0),
      workers,
    };
  }

  catalogue(): FleetModel[] {
    const { workers } = this.workers();
    return GPU_CATALOGUE.map(({ id, name, vendor, memoryMb, pricePerGpuHourCents }) => {
      const mine = workers.filter(({ model, status }) => model === id && status !== "unavailable");
      return {
        id,
        name,
        kind: vendor === null ? "cpu" : "gpu",
        memoryMb:
          memoryMb === 0
            ? Math.max(0, ...mine.map(({ totalMemoryMb }) => totalMemoryMb))
            : memoryMb,
        pricePerHourCents: pricePerGpuHourCents,
        online: mine.length,
        free: mine.filter(({ status }) => status === "free").length,
      };
    });
  }

  nodeHealth(): NodeHealth[] {
    return this.#registered.all().map(({ id, state, is_cordoned, cordon_reason }) => {
      const beat = this.#heartbeats.last(id);
      const refused = this.#heartbeats.whyRefused(id);
      const trusts = this.#heartbeats.trustOf(id);
      return {
        ...{
          node: id,
          state,
          cordonReason: is_cordoned === 1 ? (cordon_reason ?? "by the operator") : null,
        },
        silentMs: beat?.ageMs ?? null,
        loopLagMs: beat?.loopLagMs ?? null,
        diskFreeBytes: beat?.diskFreeBytes ?? null,
        hasDisk: this.#heartbeats.hasDisk(id),
        ...(refused === null ? {} : { refused }),
        ...(trusts === null ? {} : { trusts }),
        quarantined: this.#quarantined.all(id),
        unhealthy: this.#unhealthy
          .all(id)
          .map(({ trial, ...one }) => (trial === 1 ? { ...one, onTrial: true } : one)),
        devices: [...this.#heartbeats.devicesOf(id)],
      };
    });
  }

  status(generation: number): FleetStatus {
    const jobs = Object.fromEntries(this.#jobStates.all().map(({ state, jobs }) => [state, jobs]));
    return { jobs, nodes: this.#nodes.all(), generation };
  }
}

function view(row: FleetRow): WorkerView {
  const totalMemoryMb = Math.floor(row.memory_bytes / MIB);
  const isUsable =
    row.node_state === "READY" &&
    row.is_cordoned === 0 &&
    row.is_healthy === 1 &&
    row.is_quarantined === 0;
  const status = !isUsable ? "unavailable" : row.is_held === 1 ? "busy" : "free";
  return {
    id: row.id,
    node: row.node_id,
    model: row.model,
    kind: row.kind,
    device: deviceFactsOf(row),
    totalMemoryMb,
    freeMemoryMb: status === "free" ? totalMemoryMb : 0,
    priceCents: priceCents(row.model),
    status,
  };
}
