/** NVFlare federated training: one server that holds no device, and a site with a shard of its own on each worker, or on several of a node. */
import {
  KIT_FILES,
  RESUME_MODEL,
  RUNNER_COMMAND,
  RUNNER_OUTPUTS,
  type RunnerSpec,
} from "@resontech/contracts/runner";
import { certificateProfile } from "@resontech/contracts/federation-certificates";
import { MODEL_CHECKPOINT } from "@resontech/contracts/model-output";
import type { MemberOutputs, MemberPayload } from "@resontech/contracts/agent-protocol";
import { posix } from "node:path";
import {
  asAsked,
  type MemberResources,
  type NodeSize,
  type WorkerFacts,
  workerResources,
} from "../../kernel/decisions/resources.ts";
import type { AttemptRow, JobRow, MemberRow } from "../../kernel/rows.ts";
import type { DescribedMember, Workload } from "../../kernel/workload.ts";
import {
  memberAskOf,
  type MemberAskSpec,
  workersEachOf,
} from "../../submission/decisions/member-asks.ts";
import { keepNvflareRun } from "./nvflare-runs.ts";
import { chooseResumePoint } from "./resume-point.ts";
import { evaluateServerMemory } from "./server-memory.ts";
import {
  DISK_DATA_FACTOR,
  type ServerFacts,
  serverNeedBytes,
  serverResources,
} from "./server-resources.ts";

/** Organisation in every federation's certificates: there is one, the appliance. */
const ORG = "resontech";
/** NVFlare's port in the server's container; each attempt has a network of its own. */
const SERVER_PORT = 8002;
/** A server default of ours; NVFlare's own of 2 s would cost that much in every round. */
const TASK_REQUEST_INTERVAL_S = 0.2;
const SERVER_INPUTS = ["script", "config", "model"];

export const federation: Workload = {
  agentProtocol: () => 1,
  hubPort: SERVER_PORT,
  requiredOutputs: [MODEL_CHECKPOINT],
  reasonWords: {
    config_invalid: {
      message: "NVFlare refused the job's configuration.",
      hint: "Check configs/config_fed_server.json and config_fed_client.json.",
    },
  },
  startsWithMembers: false,
  startsWhenReady: false,
  keepStart: (db, attempt, { nvflareJob }) => keepNvflareRun(db, attempt, nvflareJob),
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
  gang: (job) => ({
    workers: job.shard_count * federation.workersEach(job),
    hub: { bytes: serverNeedBytes(serverFactsOf(job)) },
  }),
  hub: (job, node) => ({
    role: "server",
    site: null,
    isLead: true,
    resources: serverResources(node, serverFactsOf(job)),
  }),
  place: (job, index, worker, node) => ({
    role: "client",
    site: `site-${index + 1}`,
    isLead: false,
    resources: clientResources(job, index, worker, node),
  }),
  quorum: (job) => job.min_clients,
  resume: (job, committed) =>
    chooseResumePoint(
      { isResumable: job.resumable === 1, firstRound: job.first_round, numRounds: job.num_rounds },
      committed,
    ),
  canCommit: ({ resumable }) => resumable === 1,
  reads: ({ role, shard_index }, { kind, shardIndex }) =>
    role === "server"
      ? SERVER_INPUTS.includes(kind)
      : kind === "shard" && shardIndex === shard_index,
  describe,
  certificate({ role, site }, asked, { server_name }) {
    if (role === "client")
      return asked === "admin"
        ? null
        : certificateProfile({ kind: "client", org: ORG, site: site! });
    return asked === "admin"
      ? certificateProfile({ kind: "submitter", org: ORG })
      : certificateProfile({ kind: "server", org: ORG, serverName: server_name });
  },
  regrow: ({ memoryBytes }, reason, mayRetry, largestBytes) =>
    reason === "out_of_memory" ? evaluateServerMemory(memoryBytes, mayRetry, largestBytes) : null,
};

/** Null where a submission asked for nothing of it. */
function specOf({ spec }: Pick<JobRow, "spec">): MemberAskSpec | null {
  return JSON.parse(spec ?? "null") as MemberAskSpec | null;
}

function serverFactsOf(job: JobRow): ServerFacts {
  return {
    modelBytes: job.model_bytes,
    sites: job.shard_count,
    estimatedMemoryMb: job.estimated_memory_mb,
    knownBytes: job.server_memory_bytes,
  };
}

function clientResources(
  job: JobRow,
  index: number,
  worker: WorkerFacts,
  node: NodeSize,
): MemberResources {
  const shardBytes = (JSON.parse(job.shard_uncompressed_bytes) as number[])[index] ?? 0;
  const part = workerResources(node, worker, DISK_DATA_FACTOR * shardBytes);
  return asAsked(part, memberAskOf(specOf(job)));
}

function describe(described: DescribedMember): MemberPayload {
  const { attempt, member, sites } = described;
  const leaf = { identity: "member", key: KIT_FILES.key, certificate: KIT_FILES.cert } as const;
  const admin = {
    identity: "admin",
    key: KIT_FILES.adminKey,
    certificate: KIT_FILES.adminCert,
  } as const;
  return {
    command: [...RUNNER_COMMAND],
    environment: {},
    files: [{ name: "spec.json", text: JSON.stringify(runnerSpec(described)) }],
    certificates: {
      root: KIT_FILES.rootCert,
      leaves: member.role === "server" ? [leaf, admin] : [leaf],
    },
    network: {
      shape: "hub",
      index: indexOf(member),
      name: attempt.server_name,
      port: attempt.server_port,
    },
    sites: [...sites],
    outputs: outputsOf(described),
  };
}

function indexOf({ role, shard_index }: MemberRow): number | null {
  return role === "server" ? null : shard_index;
}

/** HOSTED-API "Bucket layout"; files of sites may be patients' data, and leave one only where the project says so. */
function outputsOf({ member, returnsSiteFiles }: DescribedMember): MemberOutputs {
  if (member.role === "server")
    return {
      logs: [
        { file: RUNNER_OUTPUTS.trainingLog, key: "files_out/training_log.txt" },
        { file: RUNNER_OUTPUTS.metrics, key: "files_out/metrics.jsonl" },
      ],
      printed: null,
      models: "model_out",
      files: { folder: "files_out", site: "server" },
      // Also of a job that can't go on from one: whatever ends it, the last stays.
      checkpoints: true,
    };
  const site = member.site!;
  return {
    logs: [],
    printed: `files_out/logs/${site}.log`,
    models: null,
    files: returnsSiteFiles ? { folder: `files_out/sites/${site}`, site } : null,
    checkpoints: false,
  };
}

function runnerSpec({
  job,
  attempt,
  member,
  sites,
  bridge,
  inputs,
  refusesNonFinite,
}: DescribedMember): RunnerSpec {
  const model = inputs.find(({ kind }) => kind === "model");
  return {
    formatVersion: 1,
    role: member.role === "server" ? "server" : "client",
    job: job.id,
    attempt: attempt.id,
    fence: { generation: member.generation, counter: member.counter },
    org: ORG,
    serverName: attempt.server_name,
    // On another node than the server's it is found at the gateway, on the port of the bridge.
    serverPort: bridge?.kind === "dial" ? bridge.port : attempt.server_port,
    sites: [...sites],
    site: member.site,
    minClients: job.min_clients,
    numRounds: job.num_rounds,
    taskRequestIntervalS: TASK_REQUEST_INTERVAL_S,
    modelFile: model === undefined ? null : `/app/model/${posix.basename(model.target)}`,
    resume: resumeOf(job, attempt),
    ...(refusesNonFinite && member.role === "server" ? { refusesNonFinite } : {}),
  };
}

function resumeOf(job: JobRow, attempt: AttemptRow): RunnerSpec["resume"] {
  if (attempt.resumed_from === null || job.num_rounds === null) return null;
  const roundsLeft = job.first_round + job.num_rounds - attempt.start_round;
  return { startRound: attempt.start_round, roundsLeft, modelFile: RESUME_MODEL };
}
