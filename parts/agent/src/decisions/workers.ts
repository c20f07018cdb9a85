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

/** Of the first slot beside accelerators: no device of a node has so high a number, however many come. */
const SLOTS_BESIDE_DEVICES = 1_000;

/**
 * One slot for each accelerator, by its number, whatever became of those before it; beside them as many CPU slots as configured (default: none). On a
 * node without accelerators, as many CPU slots as configured (default: one a core), memory split equally. Beside accelerators a slot has the part of a core,
 * or less where slots and devices are more than cores, and the devices share the rest.
 * @param known all devices that the node ever had, each at its number; these are among them
 */
export function layOutWorkers(
  node: string,
  devices: readonly Device[],
  known: readonly string[],
  host: HostSize,
  cpuWorkers: number | null,
): InventoryWorker[] {
  const ofDevices = devices.map((device) => ({
    id: `${node}-${known.indexOf(device.device)}`,
    kind: "gpu" as const,
    ...device,
  }));
  const isBeside = devices.length > 0;
  const count = cpuWorkers ?? (isBeside ? 0 : host.cpuCores);
  const parts = isBeside ? Math.max(host.cpuCores, count + devices.length) : Math.max(1, count);
  const memoryBytes = Math.floor((host.memoryBytes * (1 - HOST_SHARE)) / parts);
  // A number that was a device's never becomes a CPU slot's: whoever was given it was given the device.
  const first = isBeside ? SLOTS_BESIDE_DEVICES : known.length;
  const slots = Array.from({ length: count }, (_, n) => ({
    ...{ id: `${node}-${first + n}`, kind: "cpu" as const, model: "cpu" },
    ...{ memoryBytes, healthy: true },
  }));
  return [...ofDevices, ...slots];
}
