import { existsSync, statSync } from "node:fs";
import type { InventoryWorker } from "@resontech/contracts/agent-protocol";
import { readPciDevice } from "../../../probes/pci-device.ts";
import { addressOf } from "../../../probes/render-devices.ts";

/** A file of the host that a container gets, and the group that may use it. */
export type DeviceFile = { path: string; group: number };

/** What all of AMD's devices are computed with. */
const KFD = "/dev/kfd";

/** What a container needs of a device that its engine does not know by name. Empty for NVIDIA's. */
export function deviceFilesOf({ vendor, device = "" }: InventoryWorker): readonly string[] {
  const address = addressOf(device);
  if (address === null) return [];
  const { renderNode } = readPciDevice(address);
  return [...(vendor === "amd" ? [KFD] : []), renderNode ?? device];
}

/** The same with their groups; those that are gone are left out, and the container does not start without them. */
export function withGroups(paths: readonly string[]): DeviceFile[] {
  return [...new Set(paths)].map((path) => ({
    path,
    group: existsSync(path) ? statSync(path).gid : 0,
  }));
}
