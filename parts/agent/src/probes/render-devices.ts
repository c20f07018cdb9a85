import { type Accelerator, ProbeFailedError } from "./accelerator-probe.ts";
import { countUsers } from "./device-users.ts";
import { readPciDevice } from "./pci-device.ts";

/** What a tool told of a device that the kernel knows by its address and render node. */
export type ToldDevice = Omit<Accelerator, "device" | "computeProcesses" | "pciAddress"> & {
  pciAddress: string;
};

/** `/dev/dri/by-path/pci-0000:41:00.0-render`: the name that udev gives a render node, the same after every start. */
export const renderDevice = (pciAddress: string): string =>
  `/dev/dri/by-path/pci-${pciAddress}-render`;

const RENDER_DEVICE = /^\/dev\/dri\/by-path\/pci-([0-9a-f:.]+)-render$/;

/** The address in a handle of {@link renderDevice}; null for another handle. */
export function addressOf(device: string): string | null {
  return RENDER_DEVICE.exec(device)?.[1] ?? null;
}

/**
 * The same devices with their handles, and with the processes that compute on them by the kernel's word.
 * @throws ProbeFailedError when one address is told of twice: they could not be told apart
 */
export function withUsers(tool: string, told: readonly ToldDevice[]): Accelerator[] {
  const addresses = new Set(told.map(({ pciAddress }) => pciAddress));
  if (addresses.size < told.length)
    throw new ProbeFailedError(tool, "lists one PCI address twice; are its devices partitioned?");
  const users = countUsers(told.map(({ pciAddress }) => readPciDevice(pciAddress)));
  return told.map((device, index) => ({
    ...device,
    device: renderDevice(device.pciAddress),
    computeProcesses: users[index] ?? 0,
  }));
}
