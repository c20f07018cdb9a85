/** Which schedulable slots a node has. */
import type { InventoryWorker } from "@resontech/contracts/agent-protocol";

export type Device = Required<Pick<InventoryWorker, "model" | "memoryBytes" | "device" | "vendor" | "healthy">>;
export type HostSize = { cpuCores: number; memoryBytes: number };

/** Kept for the host: the agent, the engine and, on the control node, the other parts. */
const HOST_SHARE = 0.25;

/**
 * One slot for each accelerator, by its number, whatever became of those before it; on a node without any, as many CPU slots as configured
 * (default: one a core), memory split equally.
 * @param known all devices that the node ever had, each at its number; these are among them
 */
export function layOutWorkers(
  node: string,
  devices: readonly Device[],
  known: readonly string[],
  host: HostSize,
  cpuWorkers: number | null,
): InventoryWorker[] {
  if (devices.length > 0)
    return devices.map((device) => ({ id: `${node}-${known.indexOf(device.device)}`, kind: "gpu", ...device }));
  const count = cpuWorkers ?? host.cpuCores;
  const memoryBytes = Math.floor((host.memoryBytes * (1 - HOST_SHARE)) / Math.max(1, count));
  // A number that was a device's never becomes a CPU slot's: whoever was given it was given the device.
  const id = (n: number): string => `${node}-${known.length + n}`;
  return Array.from({ length: count }, (_, n) => ({ id: id(n), kind: "cpu", model: "cpu", memoryBytes, healthy: true }));
}

const MIB = 1024 * 1024;
/** A driver's own use of a device varies by this much. */
const TOLERANCE_BYTES = 64 * MIB;

export type DeviceUse = { device: string; memoryInUseBytes: number; computeProcesses: number };

/** What the devices of these slots use before a member comes, by device; or why it can't have them. */
export function claimDevices(
  ids: readonly string[],
  workers: readonly InventoryWorker[],
  uses: readonly DeviceUse[],
): { baseline: Record<string, number> } | { refused: string } {
  const baseline: Record<string, number> = {};
  for (const id of ids) {
    const worker = workers.find((one) => one.id === id);
    if (worker === undefined) return { refused: `there is no ${id} on this node now` };
    if (worker.device === undefined) continue;
    const use = uses.find(({ device }) => device === worker.device);
    if (use === undefined) return { refused: `${id}, ${worker.device}, is gone` };
    if (use.computeProcesses > 0) return { refused: `a process computes on ${id}, ${worker.device}, already` };
    baseline[use.device] = use.memoryInUseBytes;
  }
  return { baseline };
}

/** Whether every device is as free as before its member came; one that is not listed any more is not. */
export function areAtBaseline(baseline: Readonly<Record<string, number>>, uses: readonly DeviceUse[]): boolean {
  return Object.entries(baseline).every(([device, before]) => {
    const use = uses.find((found) => found.device === device);
    return use !== undefined && use.computeProcesses === 0 && use.memoryInUseBytes <= before + TOLERANCE_BYTES;
  });
}
