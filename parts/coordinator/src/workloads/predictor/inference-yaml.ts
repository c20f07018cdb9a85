/** `inference.yaml` of a deployment, as the public client renders it or a person writes it (HOSTED-API "Inside a serving replica"). Pure. */
import { ApiError } from "../../api-error.ts";
import { Arguments, ImageName, type ImageProgram, Variables } from "@resontech/contracts/own-image";
import { CONTAINER_DOOR } from "@resontech/contracts/container-spec";
import { LLAMA_POOLINGS, type LlamaPooling } from "@resontech/contracts/llama-spec";
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { parse, YAMLError } from "yaml";
import type { DeploymentLimits } from "@resontech/contracts/inference-routes";
import { LIMITS, limitsOf } from "./limits.ts";
import type { Scaling } from "./scaling.ts";

export const MAX_YAML_BYTES = 256 * 1024;
/** Of `init_args` as JSON: they travel to the node in one message. */
const MAX_ARGUMENT_BYTES = 64 * 1024;
export const MAX_REPLICAS = 64;
const MAX_CONTEXT_TOKENS = 1_048_576;
/** Below, replicas come and go in turns; above, nobody would call it scaling. */
const MIN_DOWNSCALE_S = 10;
const MAX_DOWNSCALE_S = 86_400;

const DOTTED = "^[A-Za-z_][A-Za-z0-9_]*(\\.[A-Za-z_][A-Za-z0-9_]*)*$";
const ModelPath = Type.String({ minLength: 1, maxLength: 1_024 });
/** Without one a predictor runs. The hosted pools call vLLM by its second name. */
const Engine = Type.Object({
  engine: Type.Optional(Type.Enum(["llama.cpp", "vllm", "vllm_openai", "embeddings", "container"])),
});
/** What is not named here is taken and passed over: the hosted pools know more of it. */
const Common = Type.Object({
  cluster: Type.Optional(
    Type.Object({
      num_workers: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_REPLICAS })),
      device: Type.Optional(Type.Enum(["auto", "cpu", "cuda", "gpu"])),
      gpus_per_worker: Type.Optional(Type.Number({ minimum: 0, maximum: 64 })),
      cpus_per_worker: Type.Optional(Type.Number({ minimum: 0, maximum: 1_024 })),
      max_ongoing_requests: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
      /** Ours. Beside it num_workers says nothing. */
      autoscaling: Type.Optional(
        Type.Object(
          {
            min_replicas: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_REPLICAS })),
            max_replicas: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_REPLICAS })),
            target_ongoing_requests: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
            target_requests_per_second: Type.Optional(
              Type.Number({ exclusiveMinimum: 0, maximum: 100_000 }),
            ),
            /** Percent. */
            target_gpu_utilization: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
            /** Named as Ray Serve has it. */
            downscale_delay_s: Type.Optional(
              Type.Integer({ minimum: MIN_DOWNSCALE_S, maximum: MAX_DOWNSCALE_S }),
            ),
          },
          { additionalProperties: false },
        ),
      ),
    }),
  ),
  limits: Type.Optional(LIMITS),
  requirements: Type.Optional(
    Type.Union([Type.Array(Type.String({ maxLength: 500 }), { maxItems: 500 }), Type.Null()]),
  ),
});
const Predictor = Type.Object({
  model: Type.Object({
    path: Type.Optional(Type.Union([ModelPath, Type.Null()])),
    module: Type.String({ pattern: DOTTED, maxLength: 200 }),
    class_name: Type.String({ pattern: "^[A-Za-z_][A-Za-z0-9_]*$", maxLength: 200 }),
    init_args: Type.Optional(Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()])),
  }),
});
const Llama = Type.Object({
  model: Type.Object({ path: ModelPath }),
  llama: Type.Optional(
    Type.Object({
      task: Type.Optional(Type.Enum(["generate", "embed"])),
      pooling: Type.Optional(Type.Enum([...LLAMA_POOLINGS])),
      context_tokens: Type.Optional(Type.Integer({ minimum: 256, maximum: MAX_CONTEXT_TOKENS })),
    }),
  ),
});
/** Of vLLM's own parsers; none can be brought along. */
const Parser = Type.String({ pattern: "^[a-z0-9][a-z0-9_-]*$", maxLength: 64 });
const Vllm = Type.Object({
  model: Type.Optional(Type.Object({ path: Type.Optional(Type.Union([ModelPath, Type.Null()])) })),
  vllm: Type.Optional(
    Type.Object(
      {
        context_tokens: Type.Optional(Type.Integer({ minimum: 256, maximum: MAX_CONTEXT_TOKENS })),
        gpu_memory_share: Type.Optional(Type.Number({ minimum: 0.1, maximum: 0.98 })),
        tool_call_parser: Type.Optional(Parser),
        reasoning_parser: Type.Optional(Parser),
        tensor_parallel_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 64 })),
        pipeline_parallel_size: Type.Optional(Type.Integer({ minimum: 1 })),
      },
      { additionalProperties: false },
    ),
  ),
});
const Container = Type.Object({
  model: Type.Optional(Type.Object({ path: Type.Optional(Type.Union([ModelPath, Type.Null()])) })),
  container: Type.Object(
    {
      image: ImageName,
      port: Type.Integer({ minimum: 1, maximum: 65_535 }),
      health: Type.Optional(
        Type.String({ maxLength: 256, pattern: "^/[A-Za-z0-9._~!$&'()*+,;=:@%/?-]*$" }),
      ),
      command: Type.Optional(Arguments),
      environment: Type.Optional(Variables),
    },
    { additionalProperties: false },
  ),
});
const validators = {
  engine: Compile(Engine),
  common: Compile(Common),
  predictor: Compile(Predictor),
  llama: Compile(Llama),
  vllm: Compile(Vllm),
  container: Compile(Container),
};

/** A program of the customer's own that answers HTTP, as a person writes it. */
type AskedContainer = {
  engine: "container";
  /** As the operator admitted it. */
  image: string;
  /** Where its program listens. */
  port: number;
  /** A path of it that answers 200 to 299 as long as it can take calls. */
  health: string;
  /** Empty: the image's own. */
  command: string[];
  /** Beside the image's own. */
  environment: Record<string, string>;
  /** As of a predictor. */
  modelPath: string | null;
};

/** What runs in a replica. */
export type ServedModel =
  | (AskedContainer & ImageProgram & { digest: string })
  | {
      engine: "predictor";
      module: string;
      className: string;
      initArgs: Record<string, unknown>;
      /** Key below the bucket, or a name below the deployment's `model/`; null where there are no weights. */
      modelPath: string | null;
    }
  | {
      engine: "llama.cpp";
      /** As above: weights in one file of GGUF. */
      modelPath: string;
      task: "generate" | "embed";
      /** How one vector comes of a text's many; null: as the weights say. */
      pooling: LlamaPooling | null;
      /** Of one call. */
      contextTokens: number;
    }
  | {
      engine: "vllm";
      /** A folder in Hugging Face's layout: a model of the hub, or null for the deployment's `model/`. */
      modelPath: string | null;
      /** Of one call. */
      contextTokens: number;
      /** Of the device's memory. */
      memoryShare: number;
      /** Null: what a model writes is its text, and nothing else. */
      toolCallParser: string | null;
      reasoningParser: string | null;
    }
  | {
      engine: "embeddings";
      /** It is a folder: the deployment's `model/`, in Hugging Face's layout. */
      modelPath: null;
    };

export type InferenceSpec = (Exclude<ServedModel, { engine: "container" }> | AskedContainer) & {
  scaling: Scaling;
  /** Whether a replica needs an accelerator. */
  needsDevice: boolean;
  /** How many workers a replica holds. */
  workers: number;
  maxOngoingRequests: number;
  limits: DeploymentLimits;
  /** Lines of PEP 508. */
  requirements: string[];
};

const DEFAULT_ONGOING = 8;
const DEFAULT_HEALTH = "/health";
/** On a processor each call has a context of its own, in memory from the start; on a device calls share what is left beside the weights. */
const SLOTS = { cpu: { usual: 4, most: 64 }, device: { usual: 32, most: 512 } };
const DEFAULT_CONTEXT_TOKENS = 4_096;
/** As vLLM has it. */
const DEFAULT_MEMORY_SHARE = 0.9;
/** @throws ApiError inference_yaml_invalid, with where in the file; engine_unavailable, engine_needs_gpu */
export function readInferenceYaml(text: string): InferenceSpec {
  const said = document(text);
  const { engine } = checked(validators.engine, said);
  const { cluster = {}, limits, requirements } = checked(validators.common, said);
  const { device = "auto", gpus_per_worker: gpus = 0, max_ongoing_requests: ongoing } = cluster;
  const common = {
    needsDevice: device === "cuda" || device === "gpu" || (device === "auto" && gpus > 0),
    requirements: (requirements ?? []).map((line) => line.trim()).filter((line) => line !== ""),
  };
  // A part of a device is a whole one here.
  const devices = common.needsDevice ? Math.max(1, Math.ceil(gpus)) : 1;
  if (cluster.autoscaling?.target_gpu_utilization !== undefined && !common.needsDevice)
    throw invalid("cluster.autoscaling.target_gpu_utilization needs a replica with a GPU");
  const scaled = (maxOngoingRequests: number, contextTokens: number | null, workers = devices) => ({
    ...{ ...common, workers, maxOngoingRequests, limits: limitsOf(limits, contextTokens, invalid) },
    scaling: scalingOf(cluster.autoscaling, cluster.num_workers ?? 1, maxOngoingRequests),
  });
  if (engine === undefined)
    return { ...predictorOf(said), ...scaled(ongoing ?? DEFAULT_ONGOING, null) };
  if (engine === "vllm" || engine === "vllm_openai") {
    if (device === "cpu" || cluster.gpus_per_worker === 0)
      throw new ApiError(
        "engine_needs_gpu",
        "inference.yaml: cluster asks for no GPU, and vllm runs on nothing else",
      );
    const { tensors, ...model } = vllmOf(said);
    const asked = Math.ceil(gpus);
    if (tensors !== null && asked > 1 && tensors !== asked)
      throw invalid(
        `vllm.tensor_parallel_size is ${tensors} and cluster.gpus_per_worker ${gpus}; the model is spread over all devices of a replica`,
      );
    const workers = tensors ?? Math.max(1, asked);
    const slots = slotsOf(engine, ongoing, SLOTS.device);
    const spec = scaled(slots, model.contextTokens, workers);
    return { ...model, ...spec, needsDevice: true };
  }
  if (common.needsDevice)
    throw new ApiError("engine_unavailable", `${engine} runs on processors in this release`);
  if (engine === "container") {
    if (common.requirements.length > 0)
      throw invalid("requirements are not for an image of one's own");
    return { ...containerOf(said), ...scaled(ongoing ?? DEFAULT_ONGOING, null) };
  }
  const slots = slotsOf(engine, ongoing, SLOTS.cpu);
  if (engine === "embeddings") return { engine, modelPath: null, ...scaled(slots, null) };
  const model = llamaOf(said);
  return { ...model, ...scaled(slots, model.contextTokens) };
}

function predictorOf(said: unknown): ServedModel {
  const { model } = checked(validators.predictor, said);
  const initArgs = model.init_args ?? {};
  if (Buffer.byteLength(JSON.stringify(initArgs)) > MAX_ARGUMENT_BYTES)
    throw invalid(`model.init_args has more than ${MAX_ARGUMENT_BYTES} bytes`);
  return {
    ...{ engine: "predictor", module: model.module, className: model.class_name, initArgs },
    modelPath: model.path ?? null,
  };
}

function llamaOf(said: unknown): ServedModel & { engine: "llama.cpp" } {
  const { model, llama = {} } = checked(validators.llama, said);
  return {
    ...{ engine: "llama.cpp", modelPath: model.path, task: llama.task ?? "generate" },
    ...{ pooling: llama.pooling ?? null },
    contextTokens: llama.context_tokens ?? DEFAULT_CONTEXT_TOKENS,
  };
}

/** @throws ApiError inference_yaml_invalid, engine_unavailable */
function vllmOf(said: unknown): ServedModel & { engine: "vllm"; tensors: number | null } {
  const { model, vllm = {} } = checked(validators.vllm, said);
  const stages = vllm.pipeline_parallel_size ?? 1;
  if (stages > 1)
    throw new ApiError(
      "engine_unavailable",
      `inference.yaml: vllm.pipeline_parallel_size is ${stages}, and a replica lies on one node: say vllm.tensor_parallel_size`,
    );
  return {
    tensors: vllm.tensor_parallel_size ?? null,
    ...{ engine: "vllm", modelPath: model?.path ?? null },
    contextTokens: vllm.context_tokens ?? DEFAULT_CONTEXT_TOKENS,
    memoryShare: vllm.gpu_memory_share ?? DEFAULT_MEMORY_SHARE,
    toolCallParser: vllm.tool_call_parser ?? null,
    reasoningParser: vllm.reasoning_parser ?? null,
  };
}

/** @throws ApiError inference_yaml_invalid */
function slotsOf(
  engine: string,
  asked: number | undefined,
  { usual, most }: { usual: number; most: number },
): number {
  const slots = asked ?? usual;
  if (slots > most) throw invalid(`cluster.max_ongoing_requests is at most ${most} with ${engine}`);
  return slots;
}

function containerOf(said: unknown): AskedContainer {
  const { container, model } = checked(validators.container, said);
  const { image, port, health = DEFAULT_HEALTH, command = [], environment = {} } = container;
  if (port === CONTAINER_DOOR) throw invalid(`container.port ${port} is where calls come in`);
  if (Buffer.byteLength(JSON.stringify([command, environment])) > MAX_ARGUMENT_BYTES)
    throw invalid(`container.command and environment have more than ${MAX_ARGUMENT_BYTES} bytes`);
  return {
    ...{ engine: "container", image, port, health, command, environment },
    modelPath: model?.path ?? null,
  };
}

type Checks<T> = {
  Check(said: unknown): said is T;
  Errors(said: unknown): { instancePath: string; message: string }[];
};

function checked<T>(validator: Checks<T>, said: unknown): T {
  if (validator.Check(said)) return said;
  const [first] = validator.Errors(said);
  const at = (first?.instancePath ?? "").slice(1).replaceAll("/", ".");
  throw invalid(`${at === "" ? "the document" : at} ${first?.message ?? "does not fit"}`);
}

type Autoscaling = {
  min_replicas?: number;
  max_replicas?: number;
  target_ongoing_requests?: number;
  target_requests_per_second?: number;
  target_gpu_utilization?: number;
  downscale_delay_s?: number;
};

/** Reads how a deployment scales; without bounds of its own it has a fixed number. */
function scalingOf(said: Autoscaling | undefined, fixed: number, maxOngoing: number): Scaling {
  if (said === undefined) return { min: fixed, max: fixed, targetOngoing: maxOngoing };
  const min = said.min_replicas ?? 1;
  const max = said.max_replicas ?? Math.max(1, min);
  if (min > max)
    throw invalid(`cluster.autoscaling.min_replicas is ${min}, max_replicas only ${max}`);
  const targetOngoing = said.target_ongoing_requests ?? maxOngoing;
  if (targetOngoing > maxOngoing)
    throw invalid(
      `cluster.autoscaling.target_ongoing_requests is ${targetOngoing}, and a replica takes ${maxOngoing} (max_ongoing_requests)`,
    );
  const { target_requests_per_second: requests, target_gpu_utilization: percent } = said;
  const { downscale_delay_s: delay } = said;
  return {
    ...{ min, max, targetOngoing },
    ...(requests === undefined ? {} : { targetRequestsPerSecond: requests }),
    ...(percent === undefined ? {} : { targetDeviceUse: percent / 100 }),
    ...(delay === undefined ? {} : { downAfterMs: delay * 1_000 }),
  };
}

function document(text: string): unknown {
  try {
    // An alias could stand for itself many times over: nobody needs one here.
    return parse(text, { maxAliasCount: 0, prettyErrors: true, strict: true }) as unknown;
  } catch (error) {
    if (error instanceof YAMLError || error instanceof ReferenceError)
      throw invalid(error.message.split("\n")[0] ?? "it is no YAML");
    throw error;
  }
}

function invalid(why: string): ApiError {
  return new ApiError("inference_yaml_invalid", `inference.yaml: ${why}`);
}
