/** What one member may use on its node. Limits, not reservations: CPU is shared by weight, memory ends in out_of_memory. */
import { FIRST_JOB_BYTES } from "@resontech/contracts/room-account";

const MIB = 1024 ** 2;
/** Room beside the data: KERNEL "Job container". */
export const DISK_BASE_BYTES = FIRST_JOB_BYTES;
export const PIDS = 2048;
/** Never handed to containers: system, engines, agent. */
const NODE_SHARE = 0.9;

export type MemberResources = {
  cpuMillis: number;
  memoryBytes: number;
  pids: number;
  diskBytes: number;
};

export type NodeSize = { cpuCores: number; memoryBytes: number; workers: number };

/**
 * A member on a worker: the worker's part of the node.
 * @param workerMemoryBytes host memory for a CPU slot, null for a device
 * @param dataBytes what it needs on its disk beside what every member has
 */
export function workerResources(
  node: NodeSize,
  workerMemoryBytes: number | null,
  dataBytes: number,
): MemberResources {
  return {
    cpuMillis: Math.max(100, Math.floor((node.cpuCores * 1000) / Math.max(1, node.workers))),
    memoryBytes: Math.max(
      256 * MIB,
      workerMemoryBytes ?? Math.floor((node.memoryBytes * NODE_SHARE) / Math.max(1, node.workers)),
    ),
    pids: PIDS,
    diskBytes: DISK_BASE_BYTES + dataBytes,
  };
}

/** The most that one container may have of a node. */
export function capacityBytes(nodeMemoryBytes: number): number {
  return Math.floor(nodeMemoryBytes * NODE_SHARE);
}
