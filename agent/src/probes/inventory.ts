import { createHash } from "node:crypto";
import { statfsSync } from "node:fs";
import type { Inventory } from "@resontech/contracts/agent-protocol";
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
}: InventoryOptions): Promise<Inventory> {
  const [os, cpu, memory, { found, failures }] = await Promise.all([
    si.osInfo(),
    si.cpu(),
    si.mem(),
    accelerators.read(),
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
    const reason = `its tool does not answer: ${failure?.message}`.slice(0, MAX_REASON);
    return failure === undefined ? [] : [{ ...worker, healthy: false, reason }];
  });
  const isUnknown = failures.size > 0 && found.length === 0;
  const laidOut = layOutWorkers(node, found.map(toDevice), known, host, isUnknown ? 0 : cpuWorkers);
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
