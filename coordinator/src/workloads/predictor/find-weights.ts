/** The weights that `model.path` names, found and pinned before a deployment is accepted. */
import { ApiError } from "../../api-error.ts";
import type { AcceptedInput } from "../../kernel/accepted-task.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { S3ResponseError } from "../../storage/s3-transport.ts";
import type { FolderObject } from "../../submission/folder-objects.ts";
import { readModelPath } from "./decisions/model-path.ts";
import type { InferenceSpec } from "./inference-yaml.ts";
import type { ModelObject, ModelSources } from "./model-sources.ts";

/** A replica stages no more. */
const MAX_MODEL_BYTES = 512 * 1024 ** 3;

export type WeightsPlace = {
  store: Pick<ObjectStore, "stat">;
  sources: ModelSources;
  bucket: string;
  /** Of the deployment, with what lies in it. */
  folder: string;
  objects: readonly FolderObject[];
};

/**
 * Null where the deployment names none.
 * @throws ApiError path_invalid, weights_missing, model_not_found, model_not_ready, model_too_large, export_controlled
 */
export async function findWeights(
  { modelPath, engine }: Pick<InferenceSpec, "modelPath" | "engine">,
  place: WeightsPlace,
): Promise<AcceptedInput | null> {
  if (modelPath === null) return null;
  const found = await find(modelPath, place);
  if (found.sizeBytes > MAX_MODEL_BYTES)
    throw new ApiError(
      "model_too_large",
      `/${found.key} has ${found.sizeBytes} bytes, a replica takes ${MAX_MODEL_BYTES}`,
    );
  place.sources.checkUse(found, engine === "predictor");
  const { bucket, key, versionId, etag, sizeBytes, sha256 } = found;
  const target = `model/${key.slice(key.lastIndexOf("/") + 1)}`;
  return { kind: "model", bucket, key, versionId, etag, sizeBytes, sha256, target };
}

async function find(text: string, place: WeightsPlace): Promise<ModelObject> {
  const { bucket, folder, objects, sources } = place;
  const path = readModelPath(text);
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

/** Null also for what the store takes for no key. */
async function statOf({ store, bucket }: WeightsPlace, key: string) {
  return await store.stat(bucket, key).catch((error: unknown) => {
    if (error instanceof S3ResponseError && error.status < 500) return null;
    throw error;
  });
}
