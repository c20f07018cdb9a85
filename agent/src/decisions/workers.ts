/** Which schedulable slots a node has. */
import type { InventoryWorker } from "@resontech/contracts/agent-protocol";

export type Device = Required<Pick<InventoryWorker, "model" | "memoryBytes" | "device" | "vendor" | "healthy">>;
export type HostSize = { cpuCores: number; memoryBytes: number };

/** Kept for the host: the agent, the engine and, on the control node, the other parts. */
const HOST_SHARE = 0.25;

/** One slot for each accelerator; on a node without any, as many CPU slots as configured (default: one a core), memory split equally. */
export function layOutWorkers(
  node: string,
  devices: readonly Device[],
  host: HostSize,
  cpuWorkers: number | null,
): InventoryWorker[] {
  if (devices.length > 0) return devices.map((device, n) => ({ id: `${node}-${n}`, kind: "gpu", ...device }));
  const count = cpuWorkers ?? host.cpuCores;
  const memoryBytes = Math.floor((host.memoryBytes * (1 - HOST_SHARE)) / Math.max(1, count));
  return Array.from({ length: count }, (_, n) => ({ id: `${node}-${n}`, kind: "cpu", model: "cpu", memoryBytes, healthy: true }));
}

const MIB = 1024 * 1024;
/** A driver's own use of a device varies by this much. */
const TOLERANCE_BYTES = 64 * MIB;

export type DeviceUse = { device: string; memoryInUseBytes: number; computeProcesses: number };

/** Whether every device is as free as before its member came; one that is not listed any more is not. */
export function areAtBaseline(baseline: Readonly<Record<string, number>>, uses: readonly DeviceUse[]): boolean {
  return Object.entries(baseline).every(([device, before]) => {
    const use = uses.find((found) => found.device === device);
    return use !== undefined && use.computeProcesses === 0 && use.memoryInUseBytes <= before + TOLERANCE_BYTES;
  });
}
