/** `inference.yaml` of a deployment, as the public client renders it or a person writes it (HOSTED-API "Inside a serving replica"). Pure. */
import { ApiError } from "../../api-error.ts";
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { parse, YAMLError } from "yaml";

export const MAX_YAML_BYTES = 256 * 1024;
/** Of `init_args` as JSON: they travel to the node in one message. */
const MAX_ARGUMENT_BYTES = 64 * 1024;
export const MAX_REPLICAS = 64;

const DOTTED = "^[A-Za-z_][A-Za-z0-9_]*(\\.[A-Za-z_][A-Za-z0-9_]*)*$";
/** What is not named here is taken and passed over: the hosted pools know more of it. */
const InferenceYaml = Type.Object({
  engine: Type.Optional(Type.Enum(["vllm_openai"])),
  model: Type.Object({
    path: Type.Optional(Type.Union([Type.String({ minLength: 1, maxLength: 1_024 }), Type.Null()])),
    module: Type.String({ pattern: DOTTED, maxLength: 200 }),
    class_name: Type.String({ pattern: "^[A-Za-z_][A-Za-z0-9_]*$", maxLength: 200 }),
    init_args: Type.Optional(Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()])),
  }),
  cluster: Type.Optional(
    Type.Object({
      num_workers: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_REPLICAS })),
      device: Type.Optional(Type.Enum(["auto", "cpu", "cuda", "gpu"])),
      gpus_per_worker: Type.Optional(Type.Number({ minimum: 0, maximum: 64 })),
      cpus_per_worker: Type.Optional(Type.Number({ minimum: 0, maximum: 1_024 })),
      max_ongoing_requests: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
    }),
  ),
  requirements: Type.Optional(
    Type.Union([Type.Array(Type.String({ maxLength: 500 }), { maxItems: 500 }), Type.Null()]),
  ),
});
const validator = Compile(InferenceYaml);

export type InferenceSpec = {
  module: string;
  className: string;
  initArgs: Record<string, unknown>;
  /** Key below the bucket, or a name below the deployment's `model/`; null where there are no weights. */
  modelPath: string | null;
  replicas: number;
  /** Whether a replica needs an accelerator. */
  needsDevice: boolean;
  maxOngoingRequests: number;
  /** Lines of PEP 508. */
  requirements: string[];
};

const DEFAULT_ONGOING = 8;

/** @throws ApiError inference_yaml_invalid, with where in the file; engine_unavailable */
export function readInferenceYaml(text: string): InferenceSpec {
  const said = document(text);
  if (!validator.Check(said)) {
    const [first] = validator.Errors(said);
    const at = (first?.instancePath ?? "").slice(1).replaceAll("/", ".");
    throw invalid(`${at === "" ? "the document" : at} ${first?.message ?? "does not fit"}`);
  }
  const { engine, model, cluster = {}, requirements } = said;
  if (engine !== undefined)
    throw new ApiError("engine_unavailable", `this release has no engine ${engine}`);
  const initArgs = model.init_args ?? {};
  if (Buffer.byteLength(JSON.stringify(initArgs)) > MAX_ARGUMENT_BYTES)
    throw invalid(`model.init_args has more than ${MAX_ARGUMENT_BYTES} bytes`);
  const { device = "auto", gpus_per_worker: gpus = 0 } = cluster;
  return {
    ...{ module: model.module, className: model.class_name, initArgs },
    modelPath: model.path ?? null,
    replicas: cluster.num_workers ?? 1,
    needsDevice: device === "cuda" || device === "gpu" || (device === "auto" && gpus > 0),
    maxOngoingRequests: cluster.max_ongoing_requests ?? DEFAULT_ONGOING,
    requirements: (requirements ?? []).map((line) => line.trim()).filter((line) => line !== ""),
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
