/** What members and nodes use, as figures. A member is named by ids and by its site, which is a name of ours: never by a word of a user's. */
import type { NodeUse, UseColumn } from "@resontech/contracts/agent-protocol";
import type { MemberOnNode, ToldMemberUse, ToldNodeUse } from "../../kernel/told-uses.ts";
import type { DeviceHolder } from "../device-holders.ts";
import type { Family, Sample } from "./samples.ts";

/** Each has ten lines, and Prometheus takes 20,000 of all: those that began last are told. */
const MAX_TOLD = 500;
const MS = 1_000;
const KIB = 1024;
/** By what a column is multiplied: seconds and bytes are told. */
const UNITS: Readonly<Record<UseColumn, number>> = {
  ...{ cpuMs: 1 / MS, memoryKib: KIB, memoryPeakKib: KIB, memoryLimitMib: 1024 ** 2 },
  ...{ diskReadKib: KIB, diskWrittenKib: KIB, networkReceivedKib: KIB, networkSentKib: KIB },
};

type MemberFigure = readonly [name: string, help: string, column: UseColumn];
type NodeFigure = readonly [name: string, help: string, field: keyof NodeUse];

const MEMBER_FIGURES: readonly MemberFigure[] = [
  [
    "member_cpu_seconds_total",
    "Processor time of a member, all processors together, since its container began.",
    "cpuMs",
  ],
  ["member_memory_bytes", "Memory of a member, without files that are only cached.", "memoryKib"],
  ["member_memory_peak_bytes", "The most that counted to its limit at once.", "memoryPeakKib"],
  ["member_memory_limit_bytes", "With more than that it is ended.", "memoryLimitMib"],
  ["member_disk_read_bytes_total", "Bytes that a member read from disks.", "diskReadKib"],
  ["member_disk_written_bytes_total", "Bytes that a member wrote to disks.", "diskWrittenKib"],
  ["member_network_received_bytes_total", "Bytes that a member received.", "networkReceivedKib"],
  ["member_network_sent_bytes_total", "Bytes that a member sent.", "networkSentKib"],
];

const NODE_FIGURES: readonly NodeFigure[] = [
  ["node_processors", "Processors of the node.", "processors"],
  [
    "node_cpu_seconds_total",
    "Time that the node's processors were busy, all together, since it began.",
    "cpuMs",
  ],
  ["node_memory_bytes", "Memory of the node.", "memoryBytes"],
  [
    "node_memory_used_bytes",
    "Memory of the node that can't be given back at once.",
    "memoryInUseBytes",
  ],
  ["node_disk_bytes", "Size of the node's disk for jobs.", "diskBytes"],
  ["node_disk_used_bytes", "What is used of it.", "diskInUseBytes"],
  [
    "node_cache_used_bytes",
    "What of it is inputs that the node keeps for a project.",
    "cacheInUseBytes",
  ],
  [
    "node_network_received_bytes_total",
    "Bytes that the node received by real network devices.",
    "networkReceivedBytes",
  ],
  [
    "node_network_sent_bytes_total",
    "Bytes that the node sent by real network devices.",
    "networkSentBytes",
  ],
];

export function memberFamilies(members: readonly ToldMemberUse[]): Family[] {
  const told = members.slice(-MAX_TOLD);
  return MEMBER_FIGURES.map(([name, help, column]) => {
    const unit = UNITS[column];
    const samples = told.flatMap(({ use, ...member }): Sample[] => {
      const value = use[column];
      return value === undefined ? [] : [{ labels: memberLabels(member), value: value * unit }];
    });
    return [name, help, samples];
  });
}

/** By it the figures of a device are told of the member that holds it; their own labels stay as they are. */
export function deviceHolderFamilies(holders: readonly DeviceHolder[]): Family[] {
  const samples = holders
    .slice(-MAX_TOLD)
    .map(({ worker, ...member }) => ({ labels: { ...memberLabels(member), worker }, value: 1 }));
  return [["member_device", "1 for each device that a member holds.", samples]];
}

export function nodeUseFamilies(nodes: readonly ToldNodeUse[]): Family[] {
  return NODE_FIGURES.map(([name, help, field]) => {
    const samples = nodes.flatMap(({ node, use }): Sample[] => {
      const value = use[field];
      const unit = field === "cpuMs" ? 1 / MS : 1;
      return value === undefined ? [] : [{ labels: { node }, value: value * unit }];
    });
    return [name, help, samples];
  });
}

function memberLabels({ job, attempt, member, site, node }: MemberOnNode): Record<string, string> {
  return { job, attempt, member, site, node };
}
