/** A deployment's replica on a worker, or on several of a node: a user's predictor or an engine with a model: reached by the gateway alone. It runs until somebody stops it. */
import type { MemberPayload } from "@resontech/contracts/agent-protocol";
import type { DeploymentApi, DeploymentLimits } from "@resontech/contracts/inference-routes";
import type { VISIBILITIES } from "@resontech/contracts/visibilities";
import {
  EMBEDDINGS_COMMAND,
  EMBEDDINGS_SPEC,
  type EmbeddingsSpec,
} from "@resontech/contracts/embeddings-spec";
import { ATTEND_SINCE } from "@resontech/contracts/agent-protocol";
import {
  CONTAINER_COMMAND,
  CONTAINER_DOOR,
  CONTAINER_SILENT_MS,
  CONTAINER_SPEC,
  type ContainerSpec,
} from "@resontech/contracts/container-spec";
import { LLAMA_COMMAND, LLAMA_SPEC, type LlamaSpec } from "@resontech/contracts/llama-spec";
import { fieldsOf, OPENAI_ENGINES, type OpenAiEngine } from "@resontech/contracts/openai-fields";
import {
  CACHE_SALT,
  MAX_EMBEDDING_INPUTS,
  MAX_OPENAI_BODY_BYTES,
  OPENAI_CALLS,
  type OpenAiCall,
  OPENAI_PATH,
  OPENAI_SILENT_MS,
} from "@resontech/contracts/openai-surface";
import {
  MAX_ANSWER_BYTES,
  PREDICT_MS,
  PREDICTOR_COMMAND,
  PREDICTOR_PORT,
  PREDICTOR_SPEC,
  type PredictorSpec,
} from "@resontech/contracts/predictor-spec";
import { VLLM_COMMAND, VLLM_SPEC, type VllmSpec } from "@resontech/contracts/vllm-spec";
import { workerResources } from "../../kernel/decisions/resources.ts";
import type { JobRow } from "../../kernel/rows.ts";
import type { DescribedMember, Workload } from "../../kernel/workload.ts";
import { workersEachOf } from "../../submission/decisions/member-asks.ts";
import { HUB_CACHE } from "./decisions/hub-cache.ts";
import type { ServedModel } from "./inference-yaml.ts";
import type { Scaling } from "./scaling.ts";

/** Column `spec` of a job of this kind. Its `modelPath` is one in the container. */
export type Deployment = ServedModel & {
  maxOngoingRequests: number;
  /** Of a replica. Absent: one. */
  workers?: number;
  scaling: Scaling;
  /** Absent in rows of before there were any. */
  limits?: DeploymentLimits;
  visibility: (typeof VISIBILITIES)[number];
  callbackUrl: string | null;
  /** Whose place it takes once it is ready; null for one that stands by itself. */
  replaces: string | null;
  /** What was found where `model.path` points, and is served until the end; left out by older programs. */
  weights?: WeightsOrigin | null;
  /** Of the key that was shown when it was deployed, hex. */
  keySha256: string;
  /** Of the same key, hex: signs what is posted. Absent where the key is of before there was one. */
  callbackSecret?: string;
};

/**
 * @property named `model.path` as it was written @property commit of a model of the hub; its version stands for all of its files
 * @property sha256 hex, of one file; null where only who uploaded it knows
 */
export type WeightsOrigin = {
  named: string;
  versionId: string | null;
  commit: string | null;
  sizeBytes: number;
  sha256: string | null;
};

const ROLE = "replica";
/** Where the agent puts a deployment's `model/`. */
const MODEL_FOLDER = "/app/model";
/** Weights as they lie, and as much again while they are read. */
const DISK_DATA_FACTOR = 2;
/** Of the API what a model of language answers. */
const GENERATES: readonly OpenAiCall[] = ["chat/completions", "completions"];
/** What the gateway makes of a body may be longer than what the client sent: it writes numbers out. */
const BODY_FACTOR = 2;

export function deploymentOf(job: Pick<JobRow, "spec">): Deployment {
  return JSON.parse(job.spec ?? "null") as Deployment;
}

/** How it is called. */
export function apiOf({ engine }: Pick<Deployment, "engine">): DeploymentApi {
  if (engine === "container") return "own";
  return engine === "predictor" ? "predict" : "openai";
}

/** What its model does with a text; null for what does not answer the OpenAI API. */
export function modelTask(deployment: Deployment): "generate" | "embed" | null {
  switch (deployment.engine) {
    case "llama.cpp":
      return deployment.task;
    case "vllm":
      return "generate";
    case "embeddings":
      return "embed";
    case "predictor":
    case "container":
      return null;
  }
}

/** Answers the engine; null for what does not answer the OpenAI API. */
export function openAiEngineOf({ engine }: Pick<Deployment, "engine">): OpenAiEngine | null {
  return OPENAI_ENGINES.find((known) => known === engine) ?? null;
}

export const predictor: Workload = {
  agentProtocol: (job) => (deploymentOf(job).engine === "container" ? ATTEND_SINCE : 1),
  hubPort: PREDICTOR_PORT,
  requiredOutputs: [],
  reasonWords: {
    no_progress: {
      message: "A replica got nothing done and was ended; another one takes its place.",
      hint: "The message says what hung. See that `predict` ends within a minute: no endless loop, no lock that it waits for. files_out/logs/replica.log has what it printed.",
    },
  },
  startsWithMembers: false,
  startsWhenReady: true,
  keepStart() {},
  // A replica is a gang of one member. The first is the deployment's start; from then on others are placed and ended one by one.
  jobClass: "inference",
  hasSeveralGangs: true,
  // One that has none while nobody calls counts the first as its least while somebody does.
  leastGangs: (job) => Math.max(1, deploymentOf(job).scaling.min),
  furtherGangs: ({ replicas_due }) => replicas_due,
  outlivesAttempts: ({ state }) => state === "RUNNING",
  whyHeld:
    "held by endpoints, which have no end of their own: stop one, or let it run fewer replicas",
  maySleep: true,
  isReached: true,
  workersEach: (job) => workersEachOf(deploymentOf(job)),
  asks: () => ({ cpuMillis: null, memoryBytes: null }),
  gang: (job) => ({ workers: predictor.workersEach(job), hub: null }),
  hub() {
    throw new Error("a predictor has no member without a worker");
  },
  place(job, _index, held, node) {
    return {
      role: ROLE,
      site: null,
      isLead: true,
      resources: workerResources(node, held, DISK_DATA_FACTOR * (job.model_bytes ?? 0)),
    };
  },
  quorum: () => 0,
  resume: () => null,
  canCommit: () => false,
  reads: () => true,
  describe,
  certificate: () => null,
  regrow: () => null,
};

function describe({ job, attempt, member }: DescribedMember): MemberPayload {
  const { command, file, port = PREDICTOR_PORT, environment } = programOf(job, member.id);
  return {
    command: [...command],
    environment: { PYTHONUNBUFFERED: "1", HF_HUB_CACHE: HUB_CACHE, ...environment },
    files: [file],
    certificates: null,
    network: { shape: "hub", index: null, name: attempt.server_name, port },
    sites: [],
    outputs: {
      logs: [],
      printed: `files_out/logs/${ROLE}.log`,
      ...{ models: null, files: null, checkpoints: false },
    },
  };
}

type Program = {
  command: readonly string[];
  file: { name: string; text: string };
  /** Where calls come in, if not where those of predictors do. */
  port?: number;
  environment?: Record<string, string>;
};

function programOf(job: Pick<JobRow, "name" | "spec">, replica: string): Program {
  const deployment = deploymentOf(job);
  if (deployment.engine === "container") {
    const { command, directory, environment, port, health } = deployment;
    const spec: ContainerSpec = {
      ...{ formatVersion: 1, command, directory, door: CONTAINER_DOOR, port, health },
      callLimitMs: CONTAINER_SILENT_MS,
    };
    return {
      ...{ command: CONTAINER_COMMAND, port: CONTAINER_DOOR, environment },
      file: { name: CONTAINER_SPEC, text: JSON.stringify(spec) },
    };
  }
  const common = { formatVersion: 1, replica, port: PREDICTOR_PORT } as const;
  if (deployment.engine === "predictor") {
    const { module, className, initArgs, modelPath, maxOngoingRequests } = deployment;
    const spec: PredictorSpec = {
      ...{ ...common, module, className, initArgs, modelPath, maxOngoingRequests },
      ...{ maxAnswerBytes: MAX_ANSWER_BYTES, callLimitMs: PREDICT_MS },
    };
    return {
      command: PREDICTOR_COMMAND,
      file: { name: PREDICTOR_SPEC, text: JSON.stringify(spec) },
    };
  }
  const maxBodyBytes = BODY_FACTOR * MAX_OPENAI_BODY_BYTES;
  if (deployment.engine === "embeddings") {
    const spec: EmbeddingsSpec = {
      ...{ ...common, name: job.name, folder: MODEL_FOLDER },
      ...{ maxOngoingRequests: deployment.maxOngoingRequests, maxInputs: MAX_EMBEDDING_INPUTS },
      ...{ maxBodyBytes, callLimitMs: OPENAI_SILENT_MS },
    };
    return {
      command: EMBEDDINGS_COMMAND,
      file: { name: EMBEDDINGS_SPEC, text: JSON.stringify(spec) },
    };
  }
  const { contextTokens, maxOngoingRequests: slots } = deployment;
  const engine = { ...common, name: job.name, contextTokens, slots, maxBodyBytes };
  if (deployment.engine === "vllm") {
    const { modelPath, memoryShare, toolCallParser, reasoningParser } = deployment;
    const spec: VllmSpec = {
      ...{ ...engine, modelPath: modelPath ?? MODEL_FOLDER, memoryShare },
      devices: workersEachOf(deployment),
      ...{ toolCallParser, reasoningParser, allowed: allowed("vllm", GENERATES, [CACHE_SALT]) },
    };
    return { command: VLLM_COMMAND, file: { name: VLLM_SPEC, text: JSON.stringify(spec) } };
  }
  const { modelPath, task, pooling } = deployment;
  const spec: LlamaSpec = {
    ...{ ...engine, modelPath, task, pooling, allowed: allowed("llama.cpp", OPENAI_CALLS, []) },
  };
  return { command: LLAMA_COMMAND, file: { name: LLAMA_SPEC, text: JSON.stringify(spec) } };
}

/** @param more fields that the gateway sets by itself */
function allowed(
  engine: OpenAiEngine,
  calls: readonly OpenAiCall[],
  more: readonly string[],
): Record<string, string[]> {
  return Object.fromEntries(
    calls.map((call) => [`${OPENAI_PATH}/${call}`, [...fieldsOf(call, engine), ...more]]),
  );
}
