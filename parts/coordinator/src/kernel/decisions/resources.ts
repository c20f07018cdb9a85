/** What one member may use on its node. Limits, not reservations: CPU is shared by weight, memory ends in out_of_memory. */
import type { Inventory } from "@resontech/contracts/agent-protocol";
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

/** What a member holds of its node. @property count workers @property memoryBytes of all of them together: host memory of CPU slots, the devices' own else */
export type WorkerFacts = { kind: "gpu" | "cpu"; count: number; memoryBytes: number };

/** What a job asks of its node for each member; null: as much as is its workers' part. */
export type MemberAsk = { cpuMillis: number | null; memoryBytes: number | null };

/** @property slots CPU slots @property slotsBytes memory of all of them together */
export type NodeSize = {
  cpuCores: number;
  memoryBytes: number;
  devices: number;
  slots: number;
  slotsBytes: number;
};

/**
 * A member on workers: their part of the node. Devices share what its CPU slots leave, so that all members together never have more than the node.
 * @param dataBytes what it needs on its disk beside what every member has
 */
export function workerResources(
  node: NodeSize,
  { kind, count, memoryBytes }: WorkerFacts,
  dataBytes: number,
): MemberResources {
  const { devices, slots } = node;
  const cpuMillis = node.cpuCores * 1000;
  // As the agent lays them out: beside devices a slot is one core's part at most.
  const slotParts = devices === 0 ? slots : Math.max(node.cpuCores, slots + devices);
  const slotsMillis = devices === 0 ? 0 : (cpuMillis * slots) / slotParts;
  const partOf = (amount: number, parts: number) =>
    Math.floor((amount * count) / Math.max(count, parts));
  const isSlot = kind === "cpu";
  return {
    cpuMillis: Math.max(
      100,
      isSlot ? partOf(cpuMillis, slotParts) : partOf(cpuMillis - slotsMillis, devices),
    ),
    memoryBytes: Math.max(
      256 * MIB,
      isSlot ? memoryBytes : partOf(node.memoryBytes * NODE_SHARE - node.slotsBytes, devices),
    ),
    pids: PIDS,
    diskBytes: DISK_BASE_BYTES + dataBytes,
  };
}

/** No more than the job asks for. @param part of the member's workers */
export function asAsked(
  part: MemberResources,
  { cpuMillis, memoryBytes }: MemberAsk,
): MemberResources {
  return {
    ...part,
    cpuMillis: Math.min(part.cpuMillis, cpuMillis ?? Infinity),
    memoryBytes: Math.min(part.memoryBytes, memoryBytes ?? Infinity),
  };
}

/** Why the part of so many of a node's workers is too little, as an end of "n …"; null where it is enough. */
export function whyTooLittle(
  { cpuMillis, memoryBytes }: MemberAsk,
  node: NodeSize,
  held: WorkerFacts,
): string | null {
  const part = workerResources(node, held, 0);
  if (part.cpuMillis < (cpuMillis ?? 0)) return "with too few processors of their node";
  if (part.memoryBytes < (memoryBytes ?? 0)) return "with too little memory of their node";
  return null;
}

export function nodeSizeOf({ cpuCores, memoryBytes, workers }: Inventory): NodeSize {
  const slots = workers.filter(({ kind }) => kind === "cpu");
  return {
    ...{ cpuCores, memoryBytes, devices: workers.length - slots.length, slots: slots.length },
    slotsBytes: slots.reduce((sum, slot) => sum + slot.memoryBytes, 0),
  };
}

/** The most that one container may have of a node. */
export function capacityBytes(nodeMemoryBytes: number): number {
  return Math.floor(nodeMemoryBytes * NODE_SHARE);
}
