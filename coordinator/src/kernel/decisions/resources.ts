/** What one member may use on its node. Limits, not reservations: CPU is shared by weight, memory ends in out_of_memory. */

const GIB = 1024 ** 3;
const MIB = 1024 ** 2;
/** Room beside the data: KERNEL "Job container". */
const DISK_BASE_BYTES = 10 * GIB;
const DISK_SHARD_FACTOR = 2;
const PIDS = 2048;
/** Never handed to containers: system, engines, agent. */
const NODE_SHARE = 0.9;

export type MemberResources = { cpuMillis: number; memoryBytes: number; pids: number; diskBytes: number };

export type NodeSize = { cpuCores: number; memoryBytes: number; workers: number };

/** A client: its worker's part of the node. `workerMemoryBytes` is host memory for a CPU slot, null for a device. */
export function clientResources(node: NodeSize, workerMemoryBytes: number | null, shardBytes: number): MemberResources {
  return {
    cpuMillis: Math.max(100, Math.floor((node.cpuCores * 1000) / Math.max(1, node.workers))),
    memoryBytes: Math.max(
      256 * MIB,
      workerMemoryBytes ?? Math.floor((node.memoryBytes * NODE_SHARE) / Math.max(1, node.workers)),
    ),
    pids: PIDS,
    diskBytes: DISK_BASE_BYTES + DISK_SHARD_FACTOR * shardBytes,
  };
}

/** The server: no device, a core, and memory for a few copies of the model. */
export function serverResources(node: NodeSize, modelBytes: number): MemberResources {
  return {
    cpuMillis: Math.min(node.cpuCores * 1000, 2000),
    memoryBytes: Math.max(GIB, Math.min(8 * GIB, Math.floor(node.memoryBytes / 4))),
    pids: PIDS,
    diskBytes: DISK_BASE_BYTES + DISK_SHARD_FACTOR * modelBytes,
  };
}
