/** What the product supports: the least that it promises anything for, and what it recommends. Pure. */
import type { InventoryWorker } from "@resontech/contracts/agent-protocol";

const GB = 1e9;
/** From the product's hardware requirements for providers of GPUs. Gigabytes as sellers count them. */
const LEAST = { deviceGb: 8, memoryGb: 32, diskGb: 100, megabits: 100, cuda: "11.8" } as const;
const RECOMMENDED = { deviceGb: 24, memoryGb: 128, diskGb: 200, megabits: 10_000 } as const;
/** Of all memory the firmware and the kernel keep some: a machine of 32 GB tells of a little less. */
const KEPT_SHARE = 0.04;

/** Null is not known, and held against nobody. */
export type HostFacts = {
  memoryBytes: number;
  /** Of the file system that the agent keeps its data on, used or not. */
  diskBytes: number;
  isNvme: boolean | null;
  /** Of the fastest link that is up. */
  megabits: number | null;
};
export type DeviceFacts = Pick<InventoryWorker, "memoryBytes" | "vendor"> & {
  /** The newest CUDA that the driver runs. */
  cuda?: string | undefined;
};
export type Grade = Required<Pick<InventoryWorker, "grade" | "shortOf">>;

/** What a device with its host meets; `shortOf` names what it lacks for the least, or else for what is recommended. */
export function gradeOf(device: DeviceFacts, host: HostFacts): Grade {
  const least = [
    ...tooSmall(device, host, LEAST),
    ...(host.isNvme === false ? ["its data is not on an NVMe disk"] : []),
    ...(device.cuda !== undefined && isOlder(device.cuda, LEAST.cuda)
      ? [`CUDA ${device.cuda} is older than ${LEAST.cuda}: a newer driver is needed`]
      : []),
  ];
  if (least.length > 0) return { grade: "unverified", shortOf: least };
  const more = tooSmall(device, host, RECOMMENDED);
  return { grade: more.length > 0 ? "least" : "recommended", shortOf: more };
}

function tooSmall(
  device: DeviceFacts,
  host: HostFacts,
  wanted: { deviceGb: number; memoryGb: number; diskGb: number; megabits: number },
): string[] {
  const inGb = (bytes: number) => (bytes / GB).toFixed(0);
  const isShort = (bytes: number, gb: number) => bytes < gb * GB * (1 - KEPT_SHARE);
  return [
    ...(isShort(device.memoryBytes, wanted.deviceGb)
      ? [`${inGb(device.memoryBytes)} GB of device memory, not ${wanted.deviceGb}`]
      : []),
    ...(isShort(host.memoryBytes, wanted.memoryGb)
      ? [`${inGb(host.memoryBytes)} GB of memory, not ${wanted.memoryGb}`]
      : []),
    ...(isShort(host.diskBytes, wanted.diskGb)
      ? [`${inGb(host.diskBytes)} GB of disk, not ${wanted.diskGb}`]
      : []),
    ...(host.megabits !== null && host.megabits < wanted.megabits
      ? [`a network of ${host.megabits} Mbit/s, not ${wanted.megabits}`]
      : []),
  ];
}

/** Both as `major.minor`. */
function isOlder(version: string, than: string): boolean {
  const [[major = 0, minor = 0], [leastMajor = 0, leastMinor = 0]] = [version, than].map((text) =>
    text.split(".").map(Number),
  ) as [number[], number[]];
  return major === leastMajor ? minor < leastMinor : major < leastMajor;
}
