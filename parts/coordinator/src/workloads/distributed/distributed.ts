/**
 * One script as several ranks, which torchrun starts: a member for each node, with as many ranks as it holds workers, and a meeting point beside them
 * that holds none. All members reach it and nobody else, so it leads what ranks say to one another, and its end is the job's.
 */
import {
  DISTRIBUTE_COMMAND,
  type DistributedSpec,
  ownPortsOf,
  RANK_PORTS,
  type Strategy,
} from "@resontech/contracts/distributed-spec";
import type { MemberOutputs, MemberPayload } from "@resontech/contracts/agent-protocol";
import { OWN_PORTS_SINCE } from "@resontech/contracts/agent-protocol";
import {
  asAsked,
  DISK_BASE_BYTES,
  PIDS,
  workerResources,
} from "../../kernel/decisions/resources.ts";
import type { JobRow, MemberRow } from "../../kernel/rows.ts";
import type { DescribedMember, Workload } from "../../kernel/workload.ts";
import {
  memberAskOf,
  type MemberAskSpec,
  workersEachOf,
} from "../../submission/decisions/member-asks.ts";
import { chooseResumeStep } from "./resume-step.ts";

/** Column `spec` of a job of this kind. */
export type DistributedJobSpec = {
  script: string;
  arguments: string[];
  environment: Record<string, string>;
  /** Of all members together, each on a worker of its own. */
  ranks: number;
  strategy: Strategy;
} & MemberAskSpec;

const MEETING = "meeting";
const MEETING_PORT = 8003;
const MIB = 1024 ** 2;
/** Python, and buffers of the connections that it leads; files pass through it in pieces. */
const MEETING_BYTES = 512 * MIB;
/** Inputs, what is made of them, and as much again while that happens. */
const DISK_DATA_FACTOR = 3;
/** Both checkpoints that the meeting point keeps, the one that comes, and its agent's copy with the room that it leaves. */
const CHECKPOINT_FACTOR = 8;

export const distributed: Workload = {
  agentProtocol: () => OWN_PORTS_SINCE,
  hubPort: MEETING_PORT,
  requiredOutputs: [],
  reasonWords: {
    container_failed: {
      message: "A rank or a container of the training was ended from outside.",
      hint: "Nothing in the job caused this. Submit it again; if it comes back, give the operator the job's id.",
    },
    federation_failed: {
      message: "The members of the training lost one another.",
      hint: "Nothing in the job caused this. Submit it again; if it comes back, give the operator the job's id.",
    },
  },
  startsWithMembers: true,
  startsWhenReady: false,
  keepStart() {},
  jobClass: "train",
  hasSeveralGangs: false,
  leastGangs: () => 1,
  furtherGangs: () => 0,
  outlivesAttempts: () => false,
  whyHeld: null,
  maySleep: false,
  isReached: false,
  workersEach: (job) => workersEachOf(specOf(job)),
  asks: (job) => memberAskOf(specOf(job)),
  gang: (job) => ({ workers: specOf(job).ranks, hub: { bytes: MEETING_BYTES } }),
  hub: (job, node) => ({
    role: MEETING,
    site: null,
    isLead: true,
    resources: {
      cpuMillis: Math.min(node.cpuCores * 1000, 2000),
      memoryBytes: MEETING_BYTES,
      pids: PIDS,
      diskBytes: DISK_BASE_BYTES + CHECKPOINT_FACTOR * (job.estimated_memory_mb ?? 0) * MIB,
    },
  }),
  place: (job, index, held, node) => ({
    role: "worker",
    site: siteOf(index),
    isLead: false,
    resources: asAsked(
      workerResources(node, held, DISK_DATA_FACTOR * inputBytesOf(job)),
      memberAskOf(specOf(job)),
    ),
  }),
  // A collective waits for each rank: without one of them nothing goes on.
  quorum: (job) => membersOf(job),
  resume: (_job, committed) => chooseResumeStep(committed),
  canCommit: () => false,
  reads: ({ role }) => role !== MEETING,
  describe,
  certificate: () => null,
  regrow: () => null,
};

function specOf({ spec }: Pick<JobRow, "spec">): DistributedJobSpec {
  return JSON.parse(spec ?? "null") as DistributedJobSpec;
}

/** With ranks. */
function membersOf(job: Pick<JobRow, "spec">): number {
  return specOf(job).ranks / distributed.workersEach(job);
}

function siteOf(index: number): string {
  return `worker-${index + 1}`;
}

function inputBytesOf(job: JobRow): number {
  return (JSON.parse(job.shard_uncompressed_bytes) as number[])[0] ?? 0;
}

function describe(described: DescribedMember): MemberPayload {
  const { job, attempt, member, sites } = described;
  const index = member.role === MEETING ? null : member.shard_index;
  return {
    command: [...DISTRIBUTE_COMMAND],
    environment: index === null ? {} : specOf(job).environment,
    files: [{ name: "spec.json", text: JSON.stringify(runnerSpecOf(described)) }],
    certificates: null,
    network: {
      ...{ shape: "hub", index, name: attempt.server_name, port: attempt.server_port },
      ...(index === null ? {} : { ports: ownPortsOf(index) }),
    },
    sites: [...sites],
    outputs: outputsOf(described),
  };
}

function runnerSpecOf({ job, attempt, member, bridge }: DescribedMember): DistributedSpec {
  const spec = specOf(job);
  return {
    formatVersion: 1,
    site: member.site ?? MEETING,
    index: member.role === MEETING ? null : member.shard_index,
    members: membersOf(job),
    ranksEach: distributed.workersEach(job),
    serverName: attempt.server_name,
    // On another node than the meeting point's it is found at the gateway, on the port of the bridge.
    serverPort: bridge?.kind === "dial" ? bridge.port : attempt.server_port,
    ports: { first: RANK_PORTS.first, each: RANK_PORTS.each },
    script: `/rt/job/scripts/${spec.script}`,
    arguments: spec.arguments,
    resumesAfter: attempt.resumed_from === null ? null : attempt.start_round - 1,
  };
}

/** Rank 0's files are brought to the meeting point, which leaves them; those of other members stay in, as those of sites do. */
function outputsOf({ member, returnsSiteFiles, knowsMetrics }: DescribedMember): MemberOutputs {
  const site = nameOf(member);
  const printed = `files_out/logs/${site}.log`;
  if (member.role === MEETING)
    return {
      ...{ logs: [], printed, models: "model_out", checkpoints: true },
      files: { folder: "files_out", site },
    };
  return {
    ...{ logs: [], printed, models: null, checkpoints: false },
    files: returnsSiteFiles ? { folder: `files_out/sites/${site}`, site } : null,
    ...(knowsMetrics ? { metrics: site } : {}),
  };
}

function nameOf({ site }: Pick<MemberRow, "site">): string {
  return site ?? MEETING;
}
