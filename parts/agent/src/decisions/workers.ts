/** Which schedulable slots a node has. */
import type { InventoryWorker } from "@resontech/contracts/agent-protocol";

export type Device = Required<
  Pick<InventoryWorker, "model" | "memoryBytes" | "device" | "vendor" | "healthy">
> &
  Pick<
    InventoryWorker,
    "architecture" | "driver" | "reason" | "pciAddress" | "numaNode" | "grade" | "shortOf"
  >;
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
    return devices.map((device) => ({
      id: `${node}-${known.indexOf(device.device)}`,
      kind: "gpu",
      ...device,
    }));
  const count = cpuWorkers ?? host.cpuCores;
  const memoryBytes = Math.floor((host.memoryBytes * (1 - HOST_SHARE)) / Math.max(1, count));
  // A number that was a device's never becomes a CPU slot's: whoever was given it was given the device.
  const id = (n: number): string => `${node}-${known.length + n}`;
  return Array.from({ length: count }, (_, n) => ({
    id: id(n),
    kind: "cpu",
    model: "cpu",
    memoryBytes,
    healthy: true,
  }));
}
