/**
 * The ladder of a nearly full disk, in bytes: `appliance status`, alerts, agents, coordinator and documents tell of the same steps. The audit log has
 * steps of its own beside these (log-reserve.ts).
 */

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

/** Of a file system that the appliance writes to: the smaller of a share and a size, so that neither a small nor a large disk cries for nothing. */
export const DISK_LADDER = {
  low: { share: 0.1, bytes: 10 * GIB },
  full: { share: 0.02, bytes: GIB },
} as const;

/** Of the disk where an agent keeps the data of jobs. */
export const NODE_LADDER = {
  /** Less is a warning: the next job may need as much. */
  lowBytes: 10 * GIB,
  /** With less free, what a node keeps of inputs goes. More than {@link NODE_LADDER.lowBytes}: what is kept alone brings no warning. */
  keptBytes: 11 * GIB,
  /** With less the coordinator gives the node no work. More than {@link NODE_LADDER.enoughBytes}, so that both agree. */
  workBytes: 2 * GIB,
  /** What an agent whose disk was full wants free before it begins members again. */
  enoughBytes: 1536 * MIB,
  /** What the agent holds back, so that members which it ends can write to the end. */
  heldBytes: 512 * MIB,
  /** With less free beside what is held back, members are ended. */
  fullBytes: 128 * MIB,
} as const;

export type DiskStep = "enough" | "low" | "full";
export type DiskSize = { totalBytes: number; freeBytes: number };

export function diskStep({ totalBytes, freeBytes }: DiskSize): DiskStep {
  if (freeBytes < stepBelow("full", totalBytes)) return "full";
  return freeBytes < stepBelow("low", totalBytes) ? "low" : "enough";
}

/** Answers the free bytes below which the disk is on that step. */
export function stepBelow(step: "low" | "full", totalBytes: number): number {
  const { share, bytes } = DISK_LADDER[step];
  return Math.min(totalBytes * share, bytes);
}

/** The same as an expression of Prometheus over `resontech_disk_free_bytes` and `resontech_disk_size_bytes`. */
export function stepBelowQuery(step: "low" | "full"): string {
  const { share, bytes } = DISK_LADDER[step];
  return `resontech_disk_free_bytes < clamp_max(resontech_disk_size_bytes * ${share}, ${bytes})`;
}
