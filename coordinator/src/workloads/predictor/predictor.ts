/** A user's predictor on a worker, reached by the gateway alone. It runs until somebody stops it. */
import type { MemberPayload } from "@resontech/contracts/agent-protocol";
import type { VISIBILITIES } from "@resontech/contracts/http-inference";
import {
  MAX_ANSWER_BYTES,
  PREDICTOR_COMMAND,
  PREDICTOR_PORT,
  PREDICTOR_SPEC,
  type PredictorSpec,
} from "@resontech/contracts/predictor-spec";
import { workerResources } from "../../kernel/decisions/resources.ts";
import type { JobRow } from "../../kernel/rows.ts";
import type { DescribedMember, Workload } from "../../kernel/workload.ts";

/** Column `spec` of a job of this kind. */
export type Deployment = {
  module: string;
  className: string;
  initArgs: Record<string, unknown>;
  /** In the container; null where there are no weights. */
  modelPath: string | null;
  maxOngoingRequests: number;
  visibility: (typeof VISIBILITIES)[number];
  callbackUrl: string | null;
  /** Of the key that was shown when it was deployed, hex. */
  keySha256: string;
};

const ROLE = "replica";
/** Weights as they lie, and as much again while they are read. */
const DISK_DATA_FACTOR = 2;

export function deploymentOf(job: Pick<JobRow, "spec">): Deployment {
  return JSON.parse(job.spec ?? "null") as Deployment;
}

export const predictor: Workload = {
  agentProtocol: 1,
  hubPort: PREDICTOR_PORT,
  requiredOutputs: [],
  startsWithMembers: false,
  startsWhenReady: true,
  isReached: true,
  gang: () => ({ workers: 1, hub: null }),
  hub() {
    throw new Error("a predictor has no member without a worker");
  },
  place(job, _index, worker, node) {
    const memoryBytes = worker.kind === "cpu" ? worker.memoryBytes : null;
    return {
      role: ROLE,
      site: null,
      isLead: true,
      resources: workerResources(node, memoryBytes, DISK_DATA_FACTOR * (job.model_bytes ?? 0)),
    };
  },
  quorum: () => 0,
  resume: () => null,
  reads: () => true,
  describe,
  identity: () => null,
  regrow: () => null,
};

function describe({ job, attempt, member }: DescribedMember): MemberPayload {
  const { module, className, initArgs, modelPath, maxOngoingRequests } = deploymentOf(job);
  const spec: PredictorSpec = {
    formatVersion: 1,
    ...{ module, className, initArgs, modelPath, maxOngoingRequests },
    ...{ replica: member.id, port: PREDICTOR_PORT, maxAnswerBytes: MAX_ANSWER_BYTES },
  };
  return {
    command: [...PREDICTOR_COMMAND],
    environment: { PYTHONUNBUFFERED: "1" },
    files: [{ name: PREDICTOR_SPEC, text: JSON.stringify(spec) }],
    certificates: null,
    network: { shape: "hub", index: null, name: attempt.server_name, port: PREDICTOR_PORT },
    sites: [],
    outputs: {
      logs: [],
      printed: `files_out/logs/${ROLE}.log`,
      ...{ models: null, files: null, checkpoints: false },
    },
  };
}
