/** What the kernel says of a device on the PCI bus. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export type PciDevice = {
  /** Null on a machine of one node, and where the firmware does not say. */
  numaNode: number | null;
  /** `/dev/dri/renderD128`: what a process computes through. */
  renderNode: string | null;
  /** `/dev/dri/card0`: what a display server draws on. */
  cardNode: string | null;
};

const ADDRESS = /^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$/;

/** `00000000:3B:00.0` and `0000:3b:00.0` → `0000:3b:00.0`; null for what is no address. */
export function pciAddress(text: string): string | null {
  const lower = text.trim().toLowerCase();
  if (!ADDRESS.test(lower)) return null;
  const [domain = "", ...rest] = lower.split(":");
  return [domain.slice(-4), ...rest].join(":");
}

/** @param address as {@link pciAddress} writes it @param sysfs where the kernel's files are */
export function readPciDevice(address: string, sysfs = "/sys"): PciDevice {
  const folder = join(sysfs, "bus/pci/devices", address);
  const nodes = namesIn(join(folder, "drm"));
  const path = (name: string | undefined) => (name === undefined ? null : `/dev/dri/${name}`);
  const numa = Number.parseInt(textOf(join(folder, "numa_node")), 10);
  return {
    numaNode: Number.isInteger(numa) && numa >= 0 ? numa : null,
    renderNode: path(nodes.find((name) => /^renderD\d+$/.test(name))),
    cardNode: path(nodes.find((name) => /^card\d+$/.test(name))),
  };
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return [];
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return "";
  }
}
