/** How full a disk is. Pure. */
import type { HostReply } from "@resontech/contracts/http-appliance";

export type HostDisk = HostReply["disks"][number];

/** From 0 to 1. */
export function usedShare({
  totalBytes,
  freeBytes,
}: Pick<HostDisk, "totalBytes" | "freeBytes">): number {
  return totalBytes === 0 ? 0 : Math.min(1, Math.max(0, 1 - freeBytes / totalBytes));
}

/** From here on new jobs are refused, from 0 to 1; null where that is no matter of this disk. */
export function refusedShare({ totalBytes, refusesBelowBytes }: HostDisk): number | null {
  return refusesBelowBytes === null || totalBytes === 0
    ? null
    : Math.max(0, 1 - refusesBelowBytes / totalBytes);
}

/** The fullest first. */
export function byUse(disks: readonly HostDisk[]): HostDisk[] {
  return disks.toSorted((a, b) => usedShare(b) - usedShare(a));
}
