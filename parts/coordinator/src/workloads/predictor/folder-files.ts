/** What engines read of a deployment's own `model/`, where it is their folder. */
import { EMBEDDINGS_FILES } from "@resontech/contracts/embeddings-spec";
import { ApiError } from "../../api-error.ts";
import type { AcceptedInput } from "../../kernel/accepted-task.ts";
import type { FolderObject } from "../../submission/folder-objects.ts";
import { isRead } from "./decisions/model-folder.ts";
import { requireModel, requireSize } from "./find-weights.ts";
import type { InferenceSpec } from "./inference-yaml.ts";

const MODEL = "model/";

/**
 * None for what reads no folder.
 * @throws ApiError weights_missing, model_too_large
 */
export function folderFiles(
  engine: InferenceSpec["engine"],
  objects: readonly FolderObject[],
  folder: string,
): AcceptedInput[] {
  if (engine !== "embeddings" && engine !== "vllm") return [];
  const files = objects.filter(({ path }) => path.startsWith(MODEL));
  const read = engine === "vllm" ? ofVllm(files, folder) : ofEmbeddings(files, folder);
  requireSize(
    read.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    `/${folder}/${MODEL}`,
  );
  return read.map(({ path, key, versionId, etag, sizeBytes }) => ({
    ...{ kind: "model", key, versionId, etag, sizeBytes, target: path },
  }));
}

function ofVllm(files: readonly FolderObject[], folder: string): FolderObject[] {
  requireModel(
    files.map(({ path }) => path.slice(MODEL.length)),
    `/${folder}/${MODEL}`,
  );
  return files.filter(({ path }) => isRead(path.slice(MODEL.length)));
}

function ofEmbeddings(files: readonly FolderObject[], folder: string): FolderObject[] {
  const find = (name: string) => files.find(({ path }) => path === `${MODEL}${name}`);
  const missing = EMBEDDINGS_FILES.needed.find((name) => find(name) === undefined);
  if (missing !== undefined)
    throw new ApiError("weights_missing", `/${folder} has no ${MODEL}${missing}`);
  return [...EMBEDDINGS_FILES.needed, ...EMBEDDINGS_FILES.optional]
    .map(find)
    .filter((file) => file !== undefined);
}
