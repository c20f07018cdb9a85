import { createHash } from "node:crypto";
import { statfsSync } from "node:fs";
import type { Inventory } from "@resontech/contracts/agent-protocol";
import si from "systeminformation";
import { layOutWorkers } from "../decisions/workers.ts";
import { ProbeFailedError } from "./accelerator-probe.ts";
import { Accelerators } from "./accelerators.ts";
import { knownDevices } from "./device-numbers.ts";

const MAX_TEXT = 255;

export type InventoryOptions = {
  node: string;
  cpuWorkers: number | null;
  dataDir: string;
  containerEngine: string;
  accelerators: Accelerators;
};

/** What this node is and has. @throws ProbeFailedError when an accelerator's tool is there and does not answer */
export async function readInventory({
  node,
  cpuWorkers,
  dataDir,
  containerEngine,
  accelerators,
}: InventoryOptions): Promise<Inventory> {
  const [os, cpu, memory, found] = await Promise.all([
    si.osInfo(),
    si.cpu(),
    si.mem(),
    accelerators.read(),
  ]);
  const { bavail, bsize } = statfsSync(dataDir);
  const host = { cpuCores: Math.max(1, cpu.cores), memoryBytes: memory.total };
  const devices = found.map(
    ({ memoryInUseBytes: _memory, computeProcesses: _processes, ...device }) => device,
  );
  const known = knownDevices(
    dataDir,
    devices.map(({ device }) => device),
  );
  const workers = layOutWorkers(node, devices, known, host, cpuWorkers);
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

/**
 * The same for a start: a node whose tool does not answer offers nothing until it does, and what runs on it goes on.
 * @param onError told of the tool
 */
export async function readFirstInventory(
  options: InventoryOptions,
  onError: (error: unknown) => void,
): Promise<Inventory> {
  try {
    return await readInventory(options);
  } catch (error) {
    if (!(error instanceof ProbeFailedError)) throw error;
    onError(error);
    return await readInventory({ ...options, cpuWorkers: 0, accelerators: new Accelerators([]) });
  }
}

/** Of what only changes when the node does: free disk is told with every beat. */
export function inventoryDigest(inventory: Inventory): string {
  const lasting = { ...inventory, diskFreeBytes: 0 };
  return createHash("sha256").update(JSON.stringify(lasting)).digest("hex");
}
