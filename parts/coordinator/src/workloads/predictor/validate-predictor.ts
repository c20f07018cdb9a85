/** What can be wrong with a deployment, found in the bucket before it is accepted. */
import type { JobImage } from "@resontech/contracts/coordinator-config";
import type { DeployBody } from "@resontech/contracts/http-inference";
import { EMBEDDINGS_PACKAGES } from "@resontech/contracts/embeddings-spec";
import { MAX_VARIABLES } from "@resontech/contracts/own-image";
import { LLAMA_PACKAGE } from "@resontech/contracts/llama-spec";
import { VLLM_PACKAGE } from "@resontech/contracts/vllm-spec";
import { ApiError } from "../../api-error.ts";
import { findPlatformKeys } from "../../identity/decisions/platform-key.ts";
import type { AcceptedInput, WorkerSelection } from "../../kernel/accepted-task.ts";
import type { WorkerView } from "../../kernel/fleet-view.ts";
import { chooseImages } from "../../submission/decisions/choose-images.ts";
import { slugOf } from "../../submission/decisions/slug-of.ts";
import { selectWorkers } from "../../submission/decisions/worker-selection.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { type FolderObject, listFolder } from "../../submission/folder-objects.ts";
import { asText, inParallel, readObject } from "../../submission/read-objects.ts";
import {
  asKept,
  taskName,
  type ValidatedTask,
  type ValidationDeps,
} from "../../submission/validated-task.ts";
import { type Lacking, lackingOf } from "../federation/submission/requirements.ts";
import { findWeights } from "./find-weights.ts";
import { folderFiles } from "./folder-files.ts";
import {
  type InferenceSpec,
  MAX_YAML_BYTES,
  readInferenceYaml,
  type ServedModel,
} from "./inference-yaml.ts";
import type { ModelSources } from "./model-sources.ts";
import type { OwnImages, OwnImageSource } from "./own-images.ts";
import type { Deployment } from "./predictor.ts";

const YAML = "inference.yaml";
const MAX_SCRIPT_BYTES = 4 * 1024 ** 2;
const PARALLEL_READS = 8;
/** https://github.com/ggml-org/ggml/blob/master/docs/gguf.md "File Structure" */
const GGUF = Buffer.from("GGUF");

export type DeploymentDeps = ValidationDeps & {
  store: Pick<ObjectStore, "stat">;
  sources: ModelSources;
  ownImages: OwnImages;
};

/**
 * @param key of the predict key what is kept
 * @throws ApiError with the code of the first thing found wrong
 */
export async function validatePredictor(
  deps: DeploymentDeps,
  bucket: string,
  body: DeployBody,
  key: Required<Pick<Deployment, "keySha256" | "callbackSecret">>,
): Promise<ValidatedTask & { spec: Deployment }> {
  const name = taskName(body.name);
  const folder = deploymentFolder(body.jobPath);
  const objects = await listFolder(deps.store, bucket, folder);
  const spec = await readSpec(deps, bucket, folder, objects);
  // An engine runs no code of the user's.
  const scripts =
    spec.engine === "predictor" ? objects.filter(({ path }) => path.startsWith("scripts/")) : [];
  const weights = await findWeights(spec, { ...deps, bucket, folder, objects });
  if (spec.engine === "predictor") requireModule(spec.module, scripts, folder);
  else if (spec.engine === "llama.cpp") await requireGguf(deps, weights?.inputs[0], bucket);
  const own = spec.engine === "container" ? deps.ownImages.require(spec.image) : null;
  const modelFiles = spec.modelPath === null ? folderFiles(spec.engine, objects, folder) : [];

  const workers = deps.workers();
  const catalogue = deps.catalogue();
  const selection = selectWorkers(
    {
      ...{ ...body, gpuModels: body.gpuModels ?? modelsOf(spec, catalogue) },
      workersPerMember: spec.workers,
    },
    spec.scaling.max,
    workers,
    catalogue,
  );
  if (spec.engine === "vllm") requireVllm(deps.images, selection, workers, catalogue);
  const images = chooseImages(selection, own === null ? deps.images : [own.image], workers, {
    hasHub: false,
    judge: (image) => evaluateImage(spec, image),
  });
  const texts = await inParallel(scripts, PARALLEL_READS, async (object) => ({
    object,
    text: (await readObject(deps.store, bucket, object)).toString("latin1"),
  }));
  const withKey = texts.filter(({ text }) => findPlatformKeys(text).length > 0);
  const deployment: Deployment = {
    ...servedModel(spec, weights?.path ?? null, own),
    maxOngoingRequests: spec.maxOngoingRequests,
    ...(spec.workers === 1 ? {} : { workers: spec.workers }),
    scaling: spec.scaling,
    limits: spec.limits,
    visibility: body.visibility ?? "PRIVATE",
    callbackUrl: body.callbackUrl === undefined ? null : callbackUrl(body.callbackUrl),
    replaces: body.replaces ?? null,
    weights: weights?.origin ?? null,
    ...key,
  };
  return {
    kind: "predictor",
    spec: deployment,
    ...{ name, slug: slugOf(name), bucket, outputRoot: folder, selection, ...asKept(images) },
    inputs: [
      ...scripts.map((object) => inputOf("script", object, object.path)),
      ...(weights?.inputs ?? []),
      ...modelFiles,
    ],
    onlyMine: body.onlyMineWorkers ?? false,
    estimatedMemoryMb: body.estimatedMemoryMb ?? null,
    timeLimitMs: null,
    ...{ numRounds: null, firstRound: 0, minClients: 0, resumable: false },
    warnings: [
      ...withKey.map(
        ({ object }) =>
          `${object.path} holds a platform key: whoever reads the script can use it. Revoke it.`,
      ),
      ...(spec.modelPath !== null && weights === null
        ? [`/${folder} has no ${spec.modelPath}: the predictor starts without load_weights.`]
        : []),
      ...lackingIn(spec, images.image, "version"),
    ],
    shardUncompressedBytes: [
      modelFiles.reduce((sum, { sizeBytes }) => sum + sizeBytes, weights?.origin.sizeBytes ?? 0),
    ],
    hasKeyInScript: withKey.length > 0,
  };
}

/** @throws ApiError path_invalid, path_outside_jobs */
function deploymentFolder(path: string): string {
  const key = path.replace(/^\//, "").replace(/\/$/, "");
  const [root, name, ...more] = key.split("/");
  if (!path.startsWith("/") || !key.isWellFormed() || /[\p{Cc}\\]/u.test(key))
    throw new ApiError("path_invalid", "jobPath is no path that begins with a slash");
  const isName = name !== undefined && name !== "" && name !== "." && name !== "..";
  if (root !== "inference_jobs" || !isName || more.length > 0)
    throw new ApiError("path_outside_jobs", "jobPath is not /inference_jobs/<name>");
  return key;
}

/** Whether it may be dialled is the gateway's to say, with each call. @throws ApiError callback_url_invalid */
function callbackUrl(said: string): string {
  const url = URL.parse(said);
  if (url === null || url.protocol !== "https:" || url.username !== "" || url.password !== "")
    throw new ApiError(
      "callback_url_invalid",
      "body.callbackUrl is no URL that begins with https:// and holds neither a name nor a password",
    );
  return said;
}

async function readSpec(
  deps: ValidationDeps,
  bucket: string,
  folder: string,
  objects: readonly FolderObject[],
): Promise<InferenceSpec> {
  const file = objects.find(({ path }) => path === YAML);
  if (file === undefined) throw new ApiError("config_missing", `/${folder} has no ${YAML}`);
  if (file.sizeBytes > MAX_YAML_BYTES)
    throw new ApiError(
      "config_too_large",
      `${YAML} has ${file.sizeBytes} bytes, at most ${MAX_YAML_BYTES} are taken`,
    );
  const bytes = await readObject(deps.store, bucket, file);
  return readInferenceYaml(asText(bytes, YAML, "script_not_text"));
}

/**
 * The first bytes alone: the rest of the file is parsed in the replica's container.
 * @throws ApiError weights_invalid
 */
async function requireGguf(
  { store }: ValidationDeps,
  weights: AcceptedInput | undefined,
  own: string,
): Promise<void> {
  if (weights === undefined) return;
  const { key, versionId, sizeBytes } = weights;
  const bucket = weights.bucket ?? own;
  // Of an empty object no range can be asked for.
  const end = Math.min(sizeBytes, GGUF.length) - 1;
  const magic = await store.getRange({ bucket, key, versionId }, 0, end);
  if (!magic.equals(GGUF))
    throw new ApiError("weights_invalid", `/${key} does not begin as a file of GGUF does`);
}

/** @param modelPath as it is in the container */
function servedModel(
  spec: InferenceSpec,
  modelPath: string | null,
  own: OwnImageSource | null,
): ServedModel {
  if (spec.engine === "container") {
    const { engine, image, port, health } = spec;
    return { engine, image, port, health, modelPath, ...runnable(spec, own!) };
  }
  if (spec.engine === "predictor") {
    const { engine, module, className, initArgs } = spec;
    return { engine, module, className, initArgs, modelPath };
  }
  if (spec.engine === "embeddings") return { engine: spec.engine, modelPath: null };
  if (spec.engine === "vllm") {
    const { engine, contextTokens, memoryShare, toolCallParser, reasoningParser } = spec;
    return { engine, modelPath, contextTokens, memoryShare, toolCallParser, reasoningParser };
  }
  const { engine, task, pooling, contextTokens } = spec;
  // An engine's weights are named, and so were found.
  return { engine, task, pooling, contextTokens, modelPath: modelPath! };
}

/** What the file says goes before what the image says. @throws ApiError image_without_program, inference_yaml_invalid */
function runnable(
  { image, command: said, environment: asked }: Extract<InferenceSpec, { engine: "container" }>,
  { digest, program }: OwnImageSource,
) {
  const command = said.length > 0 ? said : program.command;
  if (command.length === 0)
    throw new ApiError("image_without_program", `the image ${image} names no program`);
  const environment = { ...program.environment, ...asked };
  if (Object.keys(environment).length > MAX_VARIABLES)
    throw new ApiError(
      "inference_yaml_invalid",
      `container.environment and the image's own have more than ${MAX_VARIABLES} names`,
    );
  return { digest, command, directory: program.directory, environment };
}

/** What of PyPI an image has for each of them. */
const PACKAGES = {
  predictor: [],
  "llama.cpp": [LLAMA_PACKAGE],
  vllm: [VLLM_PACKAGE],
  embeddings: EMBEDDINGS_PACKAGES,
} as const satisfies Record<string, readonly string[]>;

/** Refuses, before images are chosen, where vLLM can't run: that none of those for processors has it would say little. @throws ApiError engine_unavailable, engine_needs_gpu */
function requireVllm(
  images: readonly JobImage[],
  selection: WorkerSelection,
  workers: readonly Pick<WorkerView, "id" | "device">[],
  catalogue: ReturnType<ValidationDeps["catalogue"]>,
): void {
  if (!images.some(({ packages }) => Object.hasOwn(packages, VLLM_PACKAGE)))
    throw new ApiError(
      "engine_unavailable",
      "this release has no image with vllm: its bundle was made without the profile cuda",
    );
  const kinds =
    selection.kind === "pinned"
      ? workers
          .filter(({ id }) => selection.workerIds.includes(id))
          .map(({ device }) => device.kind)
      : catalogue
          .filter(({ id }) => selection.gpuModels === null || selection.gpuModels.includes(id))
          .map(({ kind }) => kind);
  if (kinds.length > 0 && kinds.every((kind) => kind === "cpu"))
    throw new ApiError(
      "engine_needs_gpu",
      "the deployment asks for processors alone, and vllm runs on none",
    );
}

/** @throws ApiError requirement_unavailable and its like; engine_unavailable */
function evaluateImage(spec: InferenceSpec, image: JobImage): void {
  // What is in it is its maker's to know.
  if (spec.engine === "container") return;
  if (!PACKAGES[spec.engine].every((name) => Object.hasOwn(image.packages, name)))
    throw new ApiError("engine_unavailable", `the image ${image.profile} has no ${spec.engine}`);
  const missing = lackingIn(spec, image, "package");
  if (missing.length > 0) throw new ApiError("requirement_unavailable", missing.join("; "));
}

/** Examples of the public client pin versions that no release can have; most run with the image's own. */
function lackingIn(
  { requirements }: InferenceSpec,
  image: JobImage,
  what: Lacking["kind"],
): string[] {
  return lackingOf(requirements.join("\n"), image, `${YAML} requirement`)
    .filter(({ kind }) => kind === what)
    .map(({ sentence }) => sentence);
}

/** @throws ApiError script_missing, script_too_large */
function requireModule(module: string, scripts: readonly FolderObject[], folder: string): void {
  const file = `scripts/${module.replaceAll(".", "/")}`;
  if (!scripts.some(({ path }) => path === `${file}.py` || path === `${file}/__init__.py`))
    throw new ApiError("script_missing", `/${folder} has no ${file}.py`);
  const large = scripts.find(({ sizeBytes }) => sizeBytes > MAX_SCRIPT_BYTES);
  if (large !== undefined)
    throw new ApiError(
      "script_too_large",
      `${large.path} has ${large.sizeBytes} bytes, at most ${MAX_SCRIPT_BYTES} are taken`,
    );
}

/** Who asks for no model gets what the file says: a processor, or any accelerator. */
function modelsOf(
  { needsDevice }: InferenceSpec,
  catalogue: ReturnType<ValidationDeps["catalogue"]>,
): string[] | undefined {
  const fitting = catalogue.filter(({ kind }) => (kind === "cpu") !== needsDevice);
  return fitting.length === 0 ? undefined : fitting.map(({ id }) => id);
}

function inputOf(
  kind: AcceptedInput["kind"],
  { key, versionId, etag, sizeBytes }: FolderObject,
  target: string,
): AcceptedInput {
  return { kind, key, versionId, etag, sizeBytes, target };
}
