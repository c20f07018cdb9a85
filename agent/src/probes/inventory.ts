import { createHash } from "node:crypto";
import { statfsSync } from "node:fs";
import type { Inventory, InventoryWorker } from "@resontech/contracts/agent-protocol";
import si from "systeminformation";
import { layOutWorkers } from "../decisions/workers.ts";
import type { Accelerator } from "./accelerator-probe.ts";
import type { Accelerators } from "./accelerators.ts";
import { knownDevices } from "./device-numbers.ts";

const MAX_TEXT = 255;
const MAX_REASON = 512;

export type InventoryOptions = {
  node: string;
  cpuWorkers: number | null;
  dataDir: string;
  containerEngine: string;
  accelerators: Accelerators;
  /** Why a member could not have a healthy device all the same; null when it can. Absent: it always can. */
  whyNotGiven?: (worker: InventoryWorker) => string | null;
  /** Told of each tool that is there and does not answer. */
  onProbeError: (error: unknown) => void;
};

/**
 * What this node is and has. Devices whose tool does not answer stay as they were known, unhealthy. Where none of them is known yet, the node
 * offers no CPU slots either: it may be a node of accelerators.
 */
export async function readInventory({
  node,
  cpuWorkers,
  dataDir,
  containerEngine,
  accelerators,
  onProbeError,
  whyNotGiven = () => null,
}: InventoryOptions): Promise<Inventory> {
  const [os, cpu, memory, { found, failures }] = await Promise.all([
    si.osInfo(),
    si.cpu(),
    si.mem(),
    accelerators.look(),
  ]);
  for (const error of failures.values()) onProbeError(error);
  const { bavail, bsize } = statfsSync(dataDir);
  const host = { cpuCores: Math.max(1, cpu.cores), memoryBytes: memory.total };
  const known = knownDevices(
    dataDir,
    found.map(({ device }) => device),
  );
  const silent = accelerators.workers.flatMap((worker) => {
    const failure = worker.vendor === undefined ? undefined : failures.get(worker.vendor);
    return failure === undefined
      ? []
      : [unhealthyFor(`its tool does not answer: ${failure.message}`, worker)];
  });
  const isUnknown = failures.size > 0 && found.length === 0;
  const slots = isUnknown ? 0 : cpuWorkers;
  const laidOut = layOutWorkers(node, found.map(toDevice), known, host, slots).map((worker) =>
    worker.healthy ? unhealthyFor(whyNotGiven(worker), worker) : worker,
  );
  const workers = [...laidOut, ...silent];
  accelerators.assign(workers);
  return {
    hostname: os.hostname.slice(0, MAX_TEXT),
    os: `${os.distro} ${os.release}`.slice(0, MAX_TEXT),
    kernel: os.kernel.slice(0, MAX_TEXT),
    cpuModel: `${cpu.manufacturer} ${cpu.brand}`.trim().slice(0, MAX_TEXT),
    ...host,
    diskFreeBytes: bavail * bsize,
    containerEngine,
    workers,
  };
}

function unhealthyFor(reason: string | null, worker: InventoryWorker): InventoryWorker {
  return reason === null
    ? worker
    : { ...worker, healthy: false, reason: reason.slice(0, MAX_REASON) };
}

/** What of a device does not change from one moment to the next. */
function toDevice({
  memoryInUseBytes: _memory,
  computeProcesses: _processes,
  usage: _usage,
  pciAddress: _address,
  ...device
}: Accelerator): Parameters<typeof layOutWorkers>[1][number] {
  return device;
}

/** Of what only changes when the node does: free disk is told with every beat. */
export function inventoryDigest(inventory: Inventory): string {
  const lasting = { ...inventory, diskFreeBytes: 0 };
  return createHash("sha256").update(JSON.stringify(lasting)).digest("hex");
}
