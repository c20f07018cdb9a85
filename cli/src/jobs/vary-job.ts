/** A job once more with something changed: what is not named stays as it was. */
import type { JobParametersReply } from "@resontech/contracts/http-jobs";
import { bodyOfFiles, faultOfFiles, keyOfPlace, placeOf } from "@resontech/contracts/changed-files";
import { ERROR_CATALOGUE } from "@resontech/contracts/error-catalogue";
import type { AskedClass, TaskReply, TaskVariantBody } from "@resontech/contracts/http-tasks";
import { slugOf } from "@resontech/contracts/ready-folder";
import { getJson, sendJson } from "../api-client.ts";
import { UsageError } from "../cli-error.ts";
import type { Settings } from "../settings.ts";
import { putFile } from "../storage/put-file.ts";
import { type AskedOrder, orderedJob } from "./read-order.ts";

/** As the command line says them. */
export type Variation = {
  name?: string;
  gpuModels?: string;
  maxPrice?: number | null;
  memory?: number | null;
  minutes?: number | null;
  file: readonly string[];
  add: readonly string[];
  remove: readonly string[];
  argument: readonly string[];
  env: readonly string[];
  after: readonly AskedOrder[];
  class?: AskedClass;
  preemptible?: boolean;
  /** By name or id; `any`: none. */
  pool?: string;
};

export function isVariation({
  file,
  add,
  remove,
  argument,
  env,
  after,
  ...rest
}: Variation): boolean {
  const { name, gpuModels, maxPrice, memory, minutes, class: jobClass, preemptible, pool } = rest;
  return (
    [file, add, remove, argument, env, after].some((list) => list.length > 0) ||
    [name, gpuModels, maxPrice, memory, minutes, jobClass, preemptible, pool].some(
      (value) => value !== undefined,
    )
  );
}

/** @throws CliError */
export async function varyJob(
  settings: Settings,
  id: string,
  variation: Variation,
): Promise<TaskReply> {
  const params = { id };
  const before = await getJson(settings, "/api/jobs/{id}/parameters", { params });
  const named = { ...settings, project: before.projectId };
  const slug = slugOf(variation.name ?? before.name);
  const files = [
    ...variation.file.map((option) => {
      const { path, local } = pathAndFile(option);
      const input = inputAt(path, before);
      return { input: input.key, key: keyOfPlace(slug, placeOf(input)), local };
    }),
    ...variation.add.map((option) => {
      const { path, local } = pathAndFile(option);
      return { path, key: keyOfPlace(slug, path), local };
    }),
  ];
  const removed = variation.remove.map((path) => inputAt(path, before).key);
  const fault = faultOfFiles(before, bodyOfFiles(files, removed));
  if (fault !== null)
    throw new UsageError(fault.code, fault.message, ERROR_CATALOGUE[fault.code].hint);
  const stored = [];
  for (const { local, ...file } of files)
    stored.push({ ...file, versionId: (await putFile(named, local, file.key)).versionId });
  const after = await Promise.all(variation.after.map((one) => orderedJob(settings, one)));
  const body = {
    ...{ ...bodyOf(variation), ...bodyOfFiles(stored, removed) },
    ...(after.length === 0 ? {} : { after }),
  };
  return await sendJson(named, "POST", "/api/tasks/{id}/variants", { params, body });
}

function bodyOf(variation: Variation): TaskVariantBody {
  const { name, gpuModels, maxPrice, memory, minutes, argument, env } = variation;
  const { class: jobClass, preemptible, pool } = variation;
  return {
    ...(name === undefined ? {} : { name }),
    ...(gpuModels === undefined
      ? {}
      : { gpuModels: gpuModels === "any" ? null : gpuModels.split(",") }),
    ...(maxPrice === undefined ? {} : { maxPricePerGpuHourCents: maxPrice }),
    ...(memory === undefined ? {} : { estimatedMemoryMb: memory }),
    ...(minutes === undefined ? {} : { timeLimitMinutes: minutes }),
    ...(jobClass === undefined ? {} : { class: jobClass }),
    ...(preemptible === undefined ? {} : { preemptible }),
    ...(pool === undefined ? {} : { pool: pool === "any" ? null : pool }),
    ...(argument.length === 0 ? {} : { arguments: [...argument] }),
    ...(env.length === 0
      ? {}
      : {
          environment: Object.fromEntries(
            env.map(pathAndFile).map(({ path, local }) => [path, local]),
          ),
        }),
  };
}

/** `scripts/train.py=train.py`: where the job has it, and where it lies here. */
function pathAndFile(option: string): { path: string; local: string } {
  const at = option.indexOf("=");
  return at < 0
    ? { path: option, local: option }
    : { path: option.slice(0, at), local: option.slice(at + 1) };
}

/** @throws UsageError */
function inputAt(path: string, { inputs }: Pick<JobParametersReply, "inputs">) {
  const there = inputs.filter((input) => placeOf(input) === path);
  const found =
    there.length > 0 ? there : inputs.filter(({ key }) => key === path || key.endsWith(`/${path}`));
  const [only] = found;
  if (only === undefined || found.length > 1)
    throw new UsageError(
      "file_unknown",
      only === undefined
        ? `the job read no file ${path}`
        : `the job read ${found.length} files ${path}`,
      "resontech jobs show JOB --json and the page of the job name its inputs.",
    );
  return only;
}
