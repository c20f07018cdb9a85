/** What the server of a federation may use: no device, a core, and memory for its copies of the model. Pure. */
import {
  capacityBytes,
  DISK_BASE_BYTES,
  type MemberResources,
  type NodeSize,
  PIDS,
} from "../../kernel/decisions/resources.ts";

const GIB = 1024 ** 3;
const MIB = 1024 ** 2;
/** A shard or a model as it comes, and unpacked or saved. */
export const DISK_DATA_FACTOR = 2;
/** Of the server, whatever its model: Python, NVFlare, torch. */
const SERVER_BASE_BYTES = GIB;
/** Of the model, in the server: what it starts from, the sum, the result, what is being saved. */
const MODEL_COPIES = 5;
/** While a model is sent to a site or its update fetched and added: NVFlare 2.9.0 held 7.4 models of 300 MB for one site, 10.3 for two, in one tensor; 6.3 and 8.5 in a hundred. */
const COPIES_OF_SITE = 3;
/** Of more sites so many are served at the same moment. */
const SITES_AT_ONCE = 4;

/** What is known of a job's server before it runs. */
export type ServerFacts = {
  /** Of the warm start; 0 where there is none. */
  modelBytes: number;
  sites: number;
  estimatedMemoryMb: number | null;
  /** After a server that ended out of memory. */
  knownBytes: number | null;
};

/** Memory that the server asks for; 0 where nothing is known of it. */
export function serverNeedBytes({
  modelBytes,
  sites,
  estimatedMemoryMb,
  knownBytes,
}: ServerFacts): number {
  if (knownBytes !== null) return knownBytes;
  if (modelBytes > 0)
    return (
      SERVER_BASE_BYTES +
      modelBytes * (MODEL_COPIES + COPIES_OF_SITE * Math.min(sites, SITES_AT_ONCE))
    );
  return (estimatedMemoryMb ?? 0) * MIB;
}

/** The server: no device, a core, and memory for its copies of the model as far as the node has it. */
export function serverResources(
  node: Pick<NodeSize, "cpuCores" | "memoryBytes">,
  facts: ServerFacts,
): MemberResources {
  const { modelBytes } = facts;
  const usual = Math.max(GIB, Math.min(8 * GIB, Math.floor(node.memoryBytes / 4)));
  return {
    cpuMillis: Math.min(node.cpuCores * 1000, 2000),
    memoryBytes: Math.max(usual, Math.min(serverNeedBytes(facts), capacityBytes(node.memoryBytes))),
    pids: PIDS,
    diskBytes: DISK_BASE_BYTES + DISK_DATA_FACTOR * modelBytes,
  };
}
