import { createHash } from "node:crypto";
import { statfsSync } from "node:fs";
import type { Inventory, InventoryWorker } from "@resontech/contracts/agent-protocol";
import si from "systeminformation";
import { parseTopology } from "../decisions/gpu-topology.ts";
import { gradeOf, type HostFacts } from "../decisions/supported-hardware.ts";
import { type Device, layOutWorkers } from "../decisions/workers.ts";
import type { Accelerator } from "./accelerator-probe.ts";
import type { Accelerators } from "./accelerators.ts";
import { readDataDisk } from "./data-disk.ts";
import { knownDevices } from "./device-numbers.ts";
import { readLinks } from "./network-links.ts";
import { readTopologyText } from "./nvidia.ts";
import { readPciDevice } from "./pci-device.ts";

const MAX_TEXT = 255;
const MAX_REASON = 512;

export type InventoryOptions = {
  node: string;
  cpuWorkers: number | null;
  dataDir: string;
  containerEngine: string;
  accelerators: Accelerators;
  /** Why a member could not have a healthy device all the same; null when it can. Absent: it always can. */
  whyNotGiven?: (worker: InventoryWorker) => string | null;
  /** Told of each tool that is there and does not answer. */
  onProbeError: (error: unknown) => void;
};

/**
 * What this node is and has. Devices whose tool does not answer stay as they were known, unhealthy. Where none of them is known yet, the node
 * offers no CPU slots either: it may be a node of accelerators.
 */
export async function readInventory({
  node,
  cpuWorkers,
  dataDir,
  containerEngine,
  accelerators,
  onProbeError,
  whyNotGiven = () => null,
}: InventoryOptions): Promise<Inventory> {
  const [os, cpu, memory, { found, failures }, topologyText] = await Promise.all([
    si.osInfo(),
    si.cpu(),
    si.mem(),
    accelerators.look(),
    readTopologyText(),
  ]);
  const topology = parseTopology(topologyText);
  for (const error of failures.values()) onProbeError(error);
  const { bavail, bsize } = statfsSync(dataDir);
  const host = { cpuCores: Math.max(1, cpu.cores), memoryBytes: memory.total };
  const known = knownDevices(
    dataDir,
    found.map(({ device }) => device),
  );
  const silent = accelerators.workers.flatMap((worker) => {
    const failure = worker.vendor === undefined ? undefined : failures.get(worker.vendor);
    return failure === undefined
      ? []
      : [unhealthyFor(`its tool does not answer: ${failure.message}`, worker)];
  });
  const isUnknown = failures.size > 0 && found.length === 0;
  const links = readLinks();
  const speeds = links.map(({ megabits }) => megabits);
  const facts: HostFacts = {
    ...{
      memoryBytes: host.memoryBytes,
      megabits: speeds.length === 0 ? null : Math.max(...speeds),
    },
    ...readDataDisk(dataDir),
  };
  const slots = isUnknown ? 0 : cpuWorkers;
  const laidOut = layOutWorkers(
    node,
    found.map((one) => toDevice(one, facts)),
    known,
    host,
    slots,
  ).map((worker) => (worker.healthy ? unhealthyFor(whyNotGiven(worker), worker) : worker));
  const workers = [...laidOut, ...silent];
  accelerators.assign(workers);
  return {
    hostname: os.hostname.slice(0, MAX_TEXT),
    os: `${os.distro} ${os.release}`.slice(0, MAX_TEXT),
    kernel: os.kernel.slice(0, MAX_TEXT),
    cpuModel: `${cpu.manufacturer} ${cpu.brand}`.trim().slice(0, MAX_TEXT),
    ...host,
    diskFreeBytes: bavail * bsize,
    containerEngine,
    workers,
    ...(links.length === 0 ? {} : { links }),
    ...(topology.length === 0 ? {} : { topology }),
  };
}

function unhealthyFor(reason: string | null, worker: InventoryWorker): InventoryWorker {
  return reason === null
    ? worker
    : { ...worker, healthy: false, reason: reason.slice(0, MAX_REASON) };
}

/** What of a device does not change from one moment to the next, and what it and its host meet. */
function toDevice(
  {
    memoryInUseBytes: _memory,
    computeProcesses: _processes,
    usage: _usage,
    cuda,
    ...device
  }: Accelerator,
  facts: HostFacts,
): Device {
  const { pciAddress } = device;
  const numaNode = pciAddress === undefined ? null : readPciDevice(pciAddress).numaNode;
  return {
    ...device,
    ...(numaNode === null ? {} : { numaNode }),
    ...gradeOf({ ...device, cuda }, facts),
  };
}

/** Hashes what only changes when the node does: free disk is told with every beat. */
export function inventoryDigest(inventory: Inventory): string {
  const lasting = { ...inventory, diskFreeBytes: 0 };
  return createHash("sha256").update(JSON.stringify(lasting)).digest("hex");
}
