/** The weights that `model.path` names, found and pinned before a deployment is accepted. */
import { ApiError } from "../../api-error.ts";
import type { AcceptedInput } from "../../kernel/accepted-task.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { S3ResponseError } from "../../storage/s3-transport.ts";
import type { FolderObject } from "../../submission/folder-objects.ts";
import { hubInputs, snapshotFolder } from "./decisions/hub-cache.ts";
import { isRead, whatLacks } from "./decisions/model-folder.ts";
import { type ModelPath, readModelPath } from "./decisions/model-path.ts";
import type { InferenceSpec } from "./inference-yaml.ts";
import type { ModelObject, ModelSources } from "./model-sources.ts";
import type { WeightsOrigin } from "./predictor.ts";

/** A replica stages no more. */
const MAX_MODEL_BYTES = 512 * 1024 ** 3;

/** Engines whose code may do with the weights whatever it likes. */
const RUNS_USERS_CODE: readonly InferenceSpec["engine"][] = ["predictor", "container"];

export type WeightsPlace = {
  store: Pick<ObjectStore, "stat">;
  sources: ModelSources;
  bucket: string;
  /** Of the deployment, with what lies in it. */
  folder: string;
  objects: readonly FolderObject[];
};

/** @property path in the container, of a file or of the folder that holds them */
export type FoundWeights = { inputs: AcceptedInput[]; path: string; origin: WeightsOrigin };

/**
 * Null where the deployment names none, and where a predictor's `model/` is empty.
 * @throws ApiError path_invalid, weights_missing, model_not_found, model_not_ready, model_too_large, export_controlled
 */
export async function findWeights(
  { modelPath, engine }: Pick<InferenceSpec, "modelPath" | "engine">,
  place: WeightsPlace,
): Promise<FoundWeights | null> {
  if (modelPath === null) return null;
  const path = readModelPath(modelPath);
  if (engine === "predictor" && isUnfilled(path, place)) return null;
  if (engine === "vllm" && path.from !== "hub") throw noFolder(modelPath);
  const found =
    path.from === "hub"
      ? ofHub(path, modelPath, engine, place)
      : oneFile(modelPath, await find(path, place));
  requireSize(found.origin.sizeBytes, modelPath);
  if (path.from !== "hub")
    for (const { bucket = null, key } of found.inputs)
      place.sources.checkUse(
        { bucket: bucket ?? place.bucket, key },
        RUNS_USERS_CODE.includes(engine),
      );
  return found;
}

/** @throws ApiError model_too_large */
export function requireSize(sizeBytes: number, named: string): void {
  if (sizeBytes > MAX_MODEL_BYTES)
    throw new ApiError(
      "model_too_large",
      `${named} has ${sizeBytes} bytes, a replica takes ${MAX_MODEL_BYTES}`,
    );
}

/**
 * A template names a file of `model/`, and whoever deploys it has nothing to put there: a predictor then keeps what it was made with. Of a folder
 * that holds other files the name is taken for a mistake.
 */
function isUnfilled(path: ModelPath, { folder, objects }: WeightsPlace): boolean {
  if (path.from !== "folder" && path.from !== "bucket") return false;
  const name = path.from === "folder" ? path.name : path.key;
  return (
    (name.startsWith("model/") || name.startsWith(`${folder}/model/`)) &&
    !objects.some((object) => object.path.startsWith("model/"))
  );
}

function oneFile(
  named: string,
  { bucket, key, versionId, etag, sizeBytes, sha256 }: ModelObject,
): FoundWeights {
  const target = `model/${key.slice(key.lastIndexOf("/") + 1)}`;
  return {
    inputs: [{ kind: "model", bucket, key, versionId, etag, sizeBytes, sha256, target }],
    path: `/app/${target}`,
    origin: { named, versionId, commit: null, sizeBytes, sha256 },
  };
}

/** What was added to the hub is for everybody here: whoever added it was asked then. */
function ofHub(
  { name, revision, file }: Extract<ModelPath, { from: "hub" }>,
  named: string,
  engine: InferenceSpec["engine"],
  { sources }: WeightsPlace,
): FoundWeights {
  const snapshot = sources.ofHub(name, revision);
  const { commit, files } = snapshot;
  const folder = snapshotFolder(snapshot);
  if (engine === "vllm") {
    if (file !== null) throw noFolder(named);
    requireModel(
      files.map(({ path }) => path),
      named,
    );
    const inputs = hubInputs(snapshot, isRead);
    const sizeBytes = inputs.reduce((sum, input) => sum + input.sizeBytes, 0);
    const origin = { named, versionId: null, commit, sizeBytes, sha256: null };
    return { inputs, path: folder, origin };
  }
  // llama.cpp reads one file; where there is one it need not be named.
  const only = file ?? (RUNS_USERS_CODE.includes(engine) ? null : oneGguf(snapshot.files, named));
  const inputs = hubInputs(snapshot, only === null ? null : (path) => path === only);
  if (inputs.length === 0)
    throw new ApiError("model_not_found", `${name}@${revision} of the hub has no file ${only}`);
  const sha256 = files.find(({ path }) => path === only)?.sha256 ?? null;
  const sizeBytes = inputs.reduce((sum, input) => sum + input.sizeBytes, 0);
  return {
    inputs,
    path: only === null ? folder : `${folder}/${only}`,
    origin: { named, versionId: null, commit, sizeBytes, sha256 },
  };
}

/** @throws ApiError weights_missing */
export function requireModel(paths: readonly string[], named: string): void {
  const lacks = whatLacks(paths);
  if (lacks !== null) throw new ApiError("weights_missing", `${named} has no ${lacks}`);
}

function noFolder(named: string): ApiError {
  return new ApiError(
    "path_invalid",
    `model.path ${JSON.stringify(named)}: vllm reads a folder: name a model of the hub as hub:NAME@REVISION, or leave it out and fill model/`,
  );
}

/** @throws ApiError weights_missing */
function oneGguf(files: readonly { path: string }[], named: string): string {
  const [first, ...more] = files.filter(({ path }) => path.toLowerCase().endsWith(".gguf"));
  if (first !== undefined && more.length === 0) return first.path;
  throw new ApiError(
    "weights_missing",
    `${named} has ${more.length === 0 ? "no file" : "several files"} of GGUF: name one as ${named}/FILE`,
  );
}

async function find(
  path: Exclude<ModelPath, { from: "hub" }>,
  place: WeightsPlace,
): Promise<ModelObject> {
  const { bucket, folder, objects, sources } = place;
  if (path.from === "job") return await sources.ofJob(path.job, path.file);
  const name = path.from === "folder" ? path.name : path.key;
  const near = objects.find(
    (object) => object.key === name || object.path === name || object.path === `model/${name}`,
  );
  const object = near ?? (path.from === "bucket" ? await statOf(place, path.key) : null);
  if (object === null)
    throw new ApiError(
      "weights_missing",
      path.from === "folder"
        ? `/${folder} has no weights ${JSON.stringify(name)}`
        : `the bucket has no object /${name}`,
    );
  const { key, versionId, etag, sizeBytes } = object;
  return { bucket, key, versionId, etag, sizeBytes, sha256: null };
}

/** What the store says of a name that is no key, or none that it has. A refusal says nothing of what is there. */
const NO_SUCH = [400, 404];

/** Asks for an object's version; null also for what the store takes for no key. */
async function statOf({ store, bucket }: WeightsPlace, key: string) {
  return await store.stat(bucket, key).catch((error: unknown) => {
    if (error instanceof S3ResponseError && NO_SUCH.includes(error.status)) return null;
    throw error;
  });
}
