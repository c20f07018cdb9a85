/**
 * Everything that can be wrong with a federation is found here, in the bucket, before it is accepted: what passes has its objects'
 * versions recorded and never changes again.
 */
import type { SubmitFederationBody } from "@resontech/contracts/http-tasks";
import { ApiError } from "../../../api-error.ts";
import { findPlatformKeys } from "../../../identity/decisions/platform-key.ts";
import { chooseImages } from "../../../submission/decisions/choose-images.ts";
import { askSpecOfBody } from "../../../submission/decisions/member-asks.ts";
import { slugOf } from "../../../submission/decisions/slug-of.ts";
import { selectWorkers } from "../../../submission/decisions/worker-selection.ts";
import type { FolderObject } from "../../../submission/folder-objects.ts";
import { asText, inParallel, readObject } from "../../../submission/read-objects.ts";
import {
  asKept,
  taskName,
  type ValidatedTask,
  type ValidationDeps,
} from "../../../submission/validated-task.ts";
import { checkClassFiles, SCRIPT_FILES } from "./class-files.ts";
import { CONFIG_FILES, type ConfigFile, MAX_CONFIG_BYTES, readJobConfigs } from "./job-configs.ts";
import { evaluateShard } from "./evaluate-shard.ts";
import { checkRequirements, MAX_REQUIREMENTS_BYTES } from "./requirements.ts";
import { evaluateResumable } from "./resumable.ts";
import { taskPaths } from "./task-paths.ts";
import { acceptedInputs, readWorkspace } from "./workspace.ts";

const MAX_SCRIPT_BYTES = 4 * 1024 * 1024;
const PARALLEL_READS = 8;
const PARALLEL_SHARDS = 4;

/** @throws ApiError with the code of the first thing found wrong */
export async function validateFederation(
  deps: ValidationDeps,
  bucket: string,
  body: SubmitFederationBody,
): Promise<ValidatedTask> {
  const paths = taskPaths(body);
  const name = taskName(body.name);
  const workspace = await readWorkspace(deps.store, bucket, paths);

  requireFiles(workspace.scripts, SCRIPT_FILES, paths.scripts, "script_missing");
  limitSize(workspace.scripts, MAX_SCRIPT_BYTES, "script_too_large");
  const configFiles = requireFiles(
    workspace.configs,
    CONFIG_FILES,
    paths.configs,
    "config_missing",
  );
  limitSize(workspace.configs, MAX_CONFIG_BYTES, "config_too_large");
  const requirements = requireFiles(
    workspace.requirements,
    ["requirements.txt"],
    paths.requirements,
    "requirements_missing",
  );
  limitSize(requirements, MAX_REQUIREMENTS_BYTES, "requirements_too_large");

  const shardCount = workspace.shards.length;
  const asked = askSpecOfBody(body);
  const workers = deps.workers();
  const selection = selectWorkers(body, shardCount, workers, deps.catalogue());

  // All small files and the ends of the shards in one go: each is a round trip to the object store.
  const small = [...workspace.scripts, ...configFiles, ...requirements];
  const [contents, zips] = await Promise.all([
    inParallel(
      small,
      PARALLEL_READS,
      async (object) => [object, await readObject(deps.store, bucket, object)] as const,
    ),
    inParallel(workspace.shards, PARALLEL_SHARDS, (shard) =>
      evaluateShard(deps.store, bucket, shard, shard.path),
    ),
  ]);
  const bytesOf = new Map(contents);
  const read = (object: FolderObject) => bytesOf.get(object)!;
  const scripts = workspace.scripts.map((object) => ({ object, bytes: read(object) }));
  for (const { object, bytes } of scripts)
    if (object.path.endsWith(".py")) asText(bytes, object.path, "script_not_text");
  const configs = readConfigs(configFiles, read);
  const facts = readJobConfigs(configs, shardCount);
  const lines = requirements.map((object) =>
    asText(read(object), object.path, "requirement_invalid"),
  );
  const images = chooseImages(selection, deps.images, workers, {
    hasHub: true,
    judge(image) {
      checkClassFiles(
        facts.classes,
        workspace.scripts.map(({ path }) => path),
        image,
      );
      for (const text of lines) checkRequirements(text, image);
    },
  });

  const texts = new Map(scripts.map(({ object, bytes }) => [object.path, bytes]));
  const resume = evaluateResumable(
    facts.server,
    (module) => texts.get(`${module}.py`)?.toString("utf8") ?? null,
  );
  const withKey = scripts.filter(
    ({ bytes }) => findPlatformKeys(bytes.toString("latin1")).length > 0,
  );
  return {
    kind: "federation",
    spec: Object.keys(asked).length === 0 ? null : asked,
    name,
    slug: slugOf(name),
    bucket,
    outputRoot: paths.outputRoot,
    inputs: acceptedInputs(workspace),
    selection,
    onlyMine: body.onlyMineWorkers ?? false,
    estimatedMemoryMb: body.estimatedMemoryMb ?? null,
    timeLimitMs: body.timeLimitMinutes === undefined ? null : body.timeLimitMinutes * 60_000,
    ...{ jobClass: body.class ?? null, isPreemptible: body.preemptible ?? null },
    ...asKept(images),
    numRounds: facts.numRounds,
    minClients: facts.minClients,
    firstRound: resume.isResumable ? resume.firstRound : 0,
    resumable: resume.isResumable,
    warnings: [
      ...withKey.map(
        ({ object }) =>
          `scripts/${object.path} holds a platform key: whoever reads the script can use it. Revoke it.`,
      ),
      ...facts.warnings,
      ...(resume.isResumable
        ? []
        : [`After a fault the job would start again at its first round: ${resume.why}.`]),
    ],
    shardUncompressedBytes: zips.map(({ uncompressedBytes }) => uncompressedBytes),
    hasKeyInScript: withKey.length > 0,
  };
}

/** @returns the required files, in the given order */
function requireFiles(
  objects: readonly FolderObject[],
  names: readonly string[],
  folder: string,
  code: "script_missing" | "config_missing" | "requirements_missing",
): FolderObject[] {
  return names.map((name) => {
    const object = objects.find(({ path }) => path === name);
    if (object === undefined) throw new ApiError(code, `/${folder} has no ${name}`);
    return object;
  });
}

function limitSize(
  objects: readonly FolderObject[],
  maxBytes: number,
  code: "script_too_large" | "config_too_large" | "requirements_too_large",
): void {
  const large = objects.find(({ sizeBytes }) => sizeBytes > maxBytes);
  if (large !== undefined)
    throw new ApiError(
      code,
      `${large.path} has ${large.sizeBytes} bytes, at most ${maxBytes} are taken`,
    );
}

function readConfigs(
  objects: readonly FolderObject[],
  read: (object: FolderObject) => Buffer,
): Record<ConfigFile, string> {
  const entries = CONFIG_FILES.map((name): [ConfigFile, string] => {
    const object = objects.find(({ path }) => path === name)!;
    return [name, asText(read(object), name, "config_invalid_json")];
  });
  return Object.fromEntries(entries) as Record<ConfigFile, string>;
}
