/** A task like an earlier one, as a submission would have said it. Pure. */
import type { Strategy } from "@resontech/contracts/distributed-spec";
import { type ChangedFiles, kindOfPlace } from "@resontech/contracts/changed-files";
import type {
  SubmitCommandBody,
  SubmitTaskBody,
  TaskVariantBody,
} from "@resontech/contracts/http-tasks";
import type { AcceptedInput } from "../../kernel/accepted-task.ts";
import type { StoredTask } from "../../kernel/stored-tasks.ts";
import type { ObjectVersion } from "../../storage/object-store.ts";
import { submittedChoicesOf } from "./resubmission.ts";
import { askBodyOf } from "./member-asks.ts";
import { slugOf } from "./slug-of.ts";

/** But for its files. */
type Changes = Omit<TaskVariantBody, keyof ChangedFiles>;

/** A site has one shard. */
const SHARD_TARGET = "shard.zip";

/** The folder of the new task: its outputs go there. With another name it is another one, so both tasks may run at once. */
export function rootOfVariant({ name, outputRoot }: StoredTask, changes: Changes): string {
  return changes.name === undefined || changes.name === name
    ? outputRoot
    : `jobs/${slugOf(changes.name)}`;
}

/**
 * Inputs by the keys that they would have if all lay in the task's folder: an input may lie anywhere, and a folder may hold others by now.
 * @param inputs shards in the order of their sites
 */
export function asFolder(
  root: string,
  inputs: readonly AcceptedInput[],
): Map<string, AcceptedInput> {
  let shards = 0;
  return new Map(
    inputs.map((input) => {
      const file = input.key.slice(input.key.lastIndexOf("/") + 1);
      // Names keep the order of the sites.
      const path =
        input.kind === "shard"
          ? `shards/${String(shards++).padStart(6, "0")}-${file}`
          : input.target;
      return [`${root}/${path}`, input];
    }),
  );
}

/** An added file as an input of a task of the kind. @param path as `faultOfFiles` lets it pass */
export function addedInput(
  taskKind: string,
  path: string,
  { key, versionId, etag, sizeBytes }: ObjectVersion,
): AcceptedInput {
  const kind = kindOfPlace(taskKind, path)!;
  return { kind, target: kind === "shard" ? SHARD_TARGET : path, key, versionId, etag, sizeBytes };
}

/** @param root where {@link asFolder} has the inputs @param task with the inputs of the new one */
export function bodyOfVariant(task: StoredTask, root: string, changes: Changes): SubmitTaskBody {
  const common = {
    name: changes.name ?? task.name,
    onlyMineWorkers: task.onlyMine,
    ...choicesOf(task, changes),
    ...timeLimitOf(task, changes),
    ...said("class", changed(changes.class, task.jobClass ?? undefined)),
    ...said("preemptible", changed(changes.preemptible, task.isPreemptible ?? undefined)),
  };
  if (task.kind === "command")
    return { kind: "command", ...common, ...scriptFields(task, root, changes) };
  if (task.kind === "distributed") {
    const { ranks, strategy } = task.spec as { ranks: number; strategy: Strategy };
    const script = scriptFields(task, root, changes);
    return { kind: "distributed", ...common, ...script, workers: ranks, strategy };
  }
  return {
    ...common,
    shardsDirPath: `/${root}/shards`,
    trainingScriptsFolderPath: `/${root}/scripts`,
    trainingConfigFolderPath: `/${root}/configs`,
    trainingRequirementsFolderPath: `/${root}/requirements`,
    ...(task.inputs.some(({ kind }) => kind === "model")
      ? { modelFolderPath: `/${root}/model` }
      : {}),
  };
}

/** Another model or price takes the place of workers that were pinned. */
function choicesOf(task: StoredTask, changes: Changes) {
  const { workerIds, ...before } = submittedChoicesOf(task);
  const { gpuModels, maxPricePerGpuHourCents } = changes;
  const isPinned =
    workerIds !== undefined && gpuModels === undefined && maxPricePerGpuHourCents === undefined;
  return {
    ...(isPinned ? { workerIds } : {}),
    ...said("gpuModels", changed(gpuModels, before.gpuModels)),
    ...said(
      "maxPricePerGpuHourCents",
      changed(maxPricePerGpuHourCents, before.maxPricePerGpuHourCents),
    ),
    ...said("estimatedMemoryMb", changed(changes.estimatedMemoryMb, before.estimatedMemoryMb)),
    ...askBodyOf(task.spec),
  };
}

function timeLimitOf({ timeLimitMs }: StoredTask, { timeLimitMinutes }: Changes) {
  const before = timeLimitMs === null ? undefined : Math.round(timeLimitMs / 60_000);
  return said("timeLimitMinutes", changed(timeLimitMinutes, before));
}

/** Null takes away what was said before. */
function changed<T>(change: T | null | undefined, before: T | undefined): T | undefined {
  return change === undefined ? before : (change ?? undefined);
}

function said<K extends string, T>(name: K, value: T | undefined): { [P in K]?: T } {
  return (value === undefined ? {} : { [name]: value }) as { [P in K]?: T };
}

/** Of a task that runs a script. */
function scriptFields(
  { inputs, spec, images }: StoredTask,
  root: string,
  changes: Changes,
): Pick<
  SubmitCommandBody,
  "scriptPath" | "arguments" | "environment" | "inputFolders" | "imageProfile"
> {
  const before = spec as { arguments: string[]; environment: Record<string, string> };
  const profiles = [...new Set(images.map(({ profile }) => profile))];
  const targets = (kind: string) =>
    inputs.filter((input) => input.kind === kind).map(({ target }) => target);
  // `payload/<folder>/<path>`
  const folders = new Set(targets("file").map((target) => target.split("/").slice(0, 2).join("/")));
  return {
    scriptPath: `/${root}/${targets("script")[0] ?? ""}`,
    arguments: changes.arguments ?? before.arguments,
    environment: changes.environment ?? before.environment,
    ...(folders.size === 0
      ? {}
      : { inputFolders: [...folders].map((folder) => `/${root}/${folder}`) }),
    // Another device may want another image.
    ...(profiles.length === 1 && changes.gpuModels === undefined
      ? { imageProfile: profiles[0]! }
      : {}),
  };
}
