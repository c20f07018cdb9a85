/** All devices of the fleet at once, in columns. Of jobs nothing but that one holds a device. */
import type { NodeHealth } from "@resontech/contracts/coordinator-health";
import type { FleetDevicesReply } from "@resontech/contracts/http-nodes";
import type { ReadHandle } from "../db/open-database.ts";

type NodeDevices = FleetDevicesReply["nodes"][number];
type Row = { id: string; node: string; model: string; memoryBytes: number; isHeld: 0 | 1 };

const PRESENT = `SELECT w.id, w.node_id AS node, w.model, w.memory_bytes AS memoryBytes,
  EXISTS (SELECT 1 FROM leases l WHERE l.worker_id = w.id AND l.released_at IS NULL) AS isHeld
  FROM workers w WHERE w.is_present = 1 ORDER BY w.node_id, w.id`;

export function fleetDevices(db: ReadHandle, health: readonly NodeHealth[]): FleetDevicesReply {
  const rows = Map.groupBy(db.prepare<[], Row>(PRESENT).all(), ({ node }) => node);
  const models = new Models();
  const nodes = health.map((node) => devicesOf(node, rows.get(node.node) ?? [], models));
  return { models: models.all, nodes };
}

function devicesOf(
  { node, state, unhealthy = [], quarantined, devices = [] }: NodeHealth,
  rows: readonly Row[],
  models: Models,
): NodeDevices {
  const reasons = new Map(
    [...unhealthy, ...quarantined].map(({ worker, reason }) => [worker, reason]),
  );
  const uses = new Map(devices.map((use) => [use.worker, use]));
  const told = rows.map((row) => ({ row, use: uses.get(row.id) }));
  return {
    ...{ node, state },
    worker: rows.map(({ id }) => id),
    model: rows.map((row) => models.placeOf(row)),
    held: rows.map(({ isHeld }) => isHeld === 1),
    unfit: rows.map(({ id }) => reasons.get(id) ?? null),
    usePercent: told.map(({ use }) => rounded(use?.utilizationPercent)),
    memoryPercent: told.map(({ row, use }) =>
      use === undefined || row.memoryBytes === 0
        ? null
        : Math.min(100, Math.round((100 * use.memoryInUseBytes) / row.memoryBytes)),
    ),
    temperatureC: told.map(({ use }) => rounded(use?.temperatureC)),
  };
}

/** Each model once: workers name it by its place. */
class Models {
  readonly all: FleetDevicesReply["models"] = [];
  readonly #places = new Map<string, number>();

  placeOf({ model, memoryBytes }: Pick<Row, "model" | "memoryBytes">): number {
    const key = `${model} ${memoryBytes}`;
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    this.#places.set(key, this.all.length);
    return this.all.push({ model, memoryBytes }) - 1;
  }
}

function rounded(told: number | undefined): number | null {
  return told === undefined ? null : Math.round(told);
}
