import { statfsSync } from "node:fs";
import type { Inventory, InventoryWorker } from "@resontech/contracts/agent-protocol";
import si from "systeminformation";
import { type Accelerator, probeNvidia } from "./nvidia.ts";

export type HostFacts = { cpuCores: number; memoryBytes: number };

/** Kept for the host: the agent, the engine and, on the control node, the other parts. */
const HOST_SHARE = 0.25;

/** One slot for each accelerator; on a node without any, as many CPU slots as configured (default: one a core), memory split equally. */
export function layOutWorkers(
  node: string,
  accelerators: readonly Accelerator[],
  host: HostFacts,
  cpuWorkers: number | null,
): InventoryWorker[] {
  if (accelerators.length > 0) return accelerators.map((accelerator, n) => ({ id: `${node}-${n}`, kind: "gpu", ...accelerator }));
  const count = cpuWorkers ?? host.cpuCores;
  const memoryBytes = Math.floor((host.memoryBytes * (1 - HOST_SHARE)) / Math.max(1, count));
  return Array.from({ length: count }, (_, n) => ({ id: `${node}-${n}`, kind: "cpu", model: "cpu", memoryBytes, healthy: true }));
}

export async function readInventory(options: {
  node: string;
  cpuWorkers: number | null;
  dataDir: string;
  engine: string;
}): Promise<Inventory> {
  const [os, cpu, memory, accelerators] = await Promise.all([si.osInfo(), si.cpu(), si.mem(), probeNvidia()]);
  const disk = statfsSync(options.dataDir);
  const host = { cpuCores: Math.max(1, cpu.cores), memoryBytes: memory.total };
  return {
    hostname: os.hostname.slice(0, 255),
    os: `${os.distro} ${os.release}`.slice(0, 255),
    kernel: os.kernel.slice(0, 255),
    cpuModel: `${cpu.manufacturer} ${cpu.brand}`.trim().slice(0, 255),
    cpuCores: host.cpuCores,
    memoryBytes: host.memoryBytes,
    diskFreeBytes: disk.bavail * disk.bsize,
    containerEngine: options.engine,
    workers: layOutWorkers(options.node, accelerators, host, options.cpuWorkers),
  };
}
