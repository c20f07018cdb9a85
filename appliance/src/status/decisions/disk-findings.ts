/** Room on the file systems that the appliance writes to. Pure. */
import { DISK_LADDER, diskStep } from "@resontech/contracts/disk-ladder";
import { refusesBelow, type ReserveState, warnsBelow } from "@resontech/contracts/log-reserve";
import { fault, type Finding, warning } from "@resontech/frame/finding";
import { toldSize } from "@resontech/frame/told-quantities";

/** A file system and what of the appliance lies on it. */
export type DiskFacts = {
  holds: readonly string[];
  path: string;
  totalBytes: number;
  freeBytes: number;
  totalInodes: number;
  freeInodes: number;
  /** Where the audit log lies: the room that it holds back. Null elsewhere, and before the first start. */
  logReserve: ReserveState | null;
};

export function diskFindings({
  holds,
  path,
  totalBytes,
  freeBytes,
  totalInodes,
  freeInodes,
  logReserve,
}: DiskFacts): Finding[] {
  const what = `${holds.join(", ")} (${path})`;
  const step = diskStep({ totalBytes, freeBytes });
  const left = `${toldSize(freeBytes)} of ${toldSize(totalBytes)} left for ${what}`;
  if (step === "full")
    return [
      fault("disk_full", left, "make space now: what can't be written is refused, nothing is lost"),
    ];
  // Some file systems count no inodes.
  if (totalInodes > 0 && freeInodes < totalInodes * DISK_LADDER.full.share)
    return [
      fault(
        "inodes_full",
        `${freeInodes} of ${totalInodes} files left for ${what}`,
        "remove files that are not the appliance's",
      ),
    ];
  if (logReserve !== null && freeBytes < warnsBelow(logReserve))
    return [
      warning(
        "disk_low",
        `${left}; below ${toldSize(refusesBelow(logReserve))} the audit log has new jobs refused`,
        "make space, or give it a larger disk",
      ),
    ];
  return step === "low" ? [warning("disk_low", left, "make space, or give it a larger disk")] : [];
}
