/** A script and the folders that it reads, as a task of any kind that runs one names them. */
import type { JobImage } from "@resontech/contracts/coordinator-config";
import { ApiError } from "../../api-error.ts";
import { findPlatformKeys } from "../../identity/decisions/platform-key.ts";
import type { AcceptedInput } from "../../kernel/accepted-task.ts";
import { folderKey } from "../../submission/decisions/bucket-key.ts";
import { type FolderObject, listFolder } from "../../submission/folder-objects.ts";
import { asText, readObject } from "../../submission/read-objects.ts";
import type { ValidationDeps } from "../../submission/validated-task.ts";
import { inputTargets } from "./input-files.ts";

const MAX_SCRIPT_BYTES = 4 * 1024 * 1024;
const MAX_INPUTS = 1_000;
/** Another job's outputs are what a script mostly reads. */
const READABLE = ["model_out", "files_out"];

/** Keys without slashes at the ends. */
export type ScriptPlaces = { script: string; folders: string[] };

export type ScriptFiles = {
  /** Of the script, without its folder. */
  file: string;
  text: string;
  inputs: AcceptedInput[];
  /** Of the folders. */
  inputBytes: number;
  hasKeyInScript: boolean;
  warnings: string[];
};

/** @throws ApiError path_* */
export function scriptPlaces(body: {
  scriptPath: string;
  inputFolders?: readonly string[];
}): ScriptPlaces {
  return {
    script: folderKey("scriptPath", body.scriptPath, READABLE),
    folders: (body.inputFolders ?? []).map((path) => folderKey("inputFolders", path, READABLE)),
  };
}

/** @throws ApiError with the code of the first thing found wrong */
export async function readScriptFiles(
  deps: Pick<ValidationDeps, "store">,
  bucket: string,
  { script, folders }: ScriptPlaces,
): Promise<ScriptFiles> {
  const [scriptObject, ...listed] = await Promise.all([
    findScript(deps, bucket, script),
    ...folders.map((key) => listFolder(deps.store, bucket, key)),
  ]);
  for (const [at, objects] of listed.entries())
    if (objects.length === 0)
      throw new ApiError("input_folder_empty", `/${folders[at]} holds no object`);
  const count = listed.reduce((sum, { length }) => sum + length, 0);
  if (count > MAX_INPUTS)
    throw new ApiError(
      "too_many_objects",
      `the input folders hold ${count} objects, at most ${MAX_INPUTS} are taken`,
    );
  const targets = inputTargets(
    folders.map((key, at) => ({ key, paths: listed[at]!.map(({ path }) => path) })),
  );
  const bytes = await readObject(deps.store, bucket, scriptObject);
  const text = asText(bytes, `/${script}`, "script_not_text");

  const file = script.slice(script.lastIndexOf("/") + 1);
  const hasKeyInScript = findPlatformKeys(bytes.toString("latin1")).length > 0;
  const files = listed.flatMap((objects, folder) =>
    objects.map((object, at) => inputOf("file", object, targets[folder]![at]!)),
  );
  return {
    ...{ file, text, hasKeyInScript },
    inputs: [inputOf("script", scriptObject, `scripts/${file}`), ...files],
    inputBytes: files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    warnings: hasKeyInScript
      ? [`${file} holds a platform key: whoever reads the script can use it. Revoke it.`]
      : [],
  };
}

/** @throws ApiError image_unavailable */
export function imagesNamed(
  profile: string | undefined,
  images: readonly JobImage[],
): readonly JobImage[] {
  if (profile === undefined) return images;
  const found = images.filter((image) => image.profile === profile);
  if (found.length > 0) return found;
  throw new ApiError(
    "image_unavailable",
    `there is no image ${JSON.stringify(profile)}, but ${images.map((image) => image.profile).join(", ")}`,
  );
}

async function findScript(
  { store }: Pick<ValidationDeps, "store">,
  bucket: string,
  key: string,
): Promise<FolderObject> {
  const folder = key.slice(0, key.lastIndexOf("/"));
  const object = (await store.list(bucket, key, MAX_INPUTS)).find((found) => found.key === key);
  if (object === undefined) throw new ApiError("command_script_missing", `there is no /${key}`);
  if (object.sizeBytes > MAX_SCRIPT_BYTES)
    throw new ApiError(
      "script_too_large",
      `/${key} has ${object.sizeBytes} bytes, at most ${MAX_SCRIPT_BYTES} are taken`,
    );
  return { ...object, path: key.slice(folder.length + 1) };
}

function inputOf(
  kind: AcceptedInput["kind"],
  { key, versionId, etag, sizeBytes }: FolderObject,
  target: string,
): AcceptedInput {
  return { kind, key, versionId, etag, sizeBytes, target };
}
