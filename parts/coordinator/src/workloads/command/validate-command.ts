/** What can be wrong with a command, found in the bucket before it is accepted. */
import type { JobImage } from "@resontech/contracts/coordinator-config";
import type { SubmitCommandBody } from "@resontech/contracts/http-tasks";
import { ApiError } from "../../api-error.ts";
import { findPlatformKeys } from "../../identity/decisions/platform-key.ts";
import type { AcceptedInput } from "../../kernel/accepted-task.ts";
import { folderKey } from "../../submission/decisions/bucket-key.ts";
import { chooseImages } from "../../submission/decisions/choose-images.ts";
import { askSpecOfBody } from "../../submission/decisions/member-asks.ts";
import { slugOf } from "../../submission/decisions/slug-of.ts";
import { selectWorkers } from "../../submission/decisions/worker-selection.ts";
import { type FolderObject, listFolder } from "../../submission/folder-objects.ts";
import { asText, readObject } from "../../submission/read-objects.ts";
import {
  asKept,
  taskName,
  type ValidatedTask,
  type ValidationDeps,
} from "../../submission/validated-task.ts";
import type { CommandSpec } from "./command.ts";
import { inputTargets } from "./input-files.ts";

const MAX_SCRIPT_BYTES = 4 * 1024 * 1024;
const MAX_INPUTS = 1_000;
/** By the end of the script's name. */
const INTERPRETERS: readonly [end: string, command: string[]][] = [
  [".py", ["python3", "-u"]],
  [".sh", ["/bin/sh"]],
];
/** Another job's outputs are what a command mostly prepares data from. */
const READABLE = ["model_out", "files_out"];

/** @throws ApiError with the code of the first thing found wrong */
export async function validateCommand(
  deps: ValidationDeps,
  bucket: string,
  body: SubmitCommandBody,
): Promise<ValidatedTask> {
  const name = taskName(body.name);
  const script = folderKey("scriptPath", body.scriptPath, READABLE);
  const interpreter = INTERPRETERS.find(([end]) => script.endsWith(end))?.[1];
  if (interpreter === undefined)
    throw new ApiError("validation_failed", "body.scriptPath ends neither in .py nor in .sh");
  const folders = (body.inputFolders ?? []).map((path) =>
    folderKey("inputFolders", path, READABLE),
  );

  const workers = deps.workers();
  const selection = selectWorkers(body, 1, workers, deps.catalogue());
  // A command brings no requirements: every image that its worker runs will do.
  const images = chooseImages(selection, imagesNamed(body.imageProfile, deps.images), workers, {
    hasHub: false,
    judge: () => {},
  });

  const [scriptObject, ...listed] = await Promise.all([
    findObject(deps, bucket, script),
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
  const text = await readObject(deps.store, bucket, scriptObject);
  asText(text, `/${script}`, "script_not_text");

  const file = script.slice(script.lastIndexOf("/") + 1);
  const hasKeyInScript = findPlatformKeys(text.toString("latin1")).length > 0;
  const spec: CommandSpec = {
    ...{ interpreter, script: file },
    ...{ arguments: body.arguments ?? [], environment: body.environment ?? {} },
    ...askSpecOfBody(body),
  };
  const files = listed.flatMap((objects, folder) =>
    objects.map((object, at) => inputOf("file", object, targets[folder]![at]!)),
  );
  const slug = slugOf(name);
  return {
    kind: "command",
    spec,
    ...{ name, slug, bucket, outputRoot: `jobs/${slug}`, selection, ...asKept(images) },
    inputs: [inputOf("script", scriptObject, `scripts/${file}`), ...files],
    onlyMine: body.onlyMineWorkers ?? false,
    estimatedMemoryMb: body.estimatedMemoryMb ?? null,
    timeLimitMs: body.timeLimitMinutes === undefined ? null : body.timeLimitMinutes * 60_000,
    ...{ jobClass: body.class ?? null, isPreemptible: body.preemptible ?? null },
    ...{ numRounds: null, firstRound: 0, minClients: 0, resumable: false },
    warnings: hasKeyInScript
      ? [`${file} holds a platform key: whoever reads the script can use it. Revoke it.`]
      : [],
    shardUncompressedBytes: [files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)],
    hasKeyInScript,
  };
}

/** @throws ApiError image_unavailable */
function imagesNamed(
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

async function findObject(
  { store }: ValidationDeps,
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
