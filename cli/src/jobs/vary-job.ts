/** A job once more with something changed: what is not named stays as it was. */
import type { JobParametersReply } from "@resontech/contracts/http-jobs";
import type { TaskReply, TaskVariantBody } from "@resontech/contracts/http-tasks";
import { slugOf } from "@resontech/contracts/ready-folder";
import { getJson, sendJson } from "../api-client.ts";
import { UsageError } from "../cli-error.ts";
import type { Settings } from "../settings.ts";
import { putFile } from "../storage/put-file.ts";

/** As the command line says them. */
export type Variation = {
  name?: string;
  gpuModels?: string;
  maxPrice?: number | null;
  minutes?: number | null;
  file: readonly string[];
  argument: readonly string[];
};

export function isVariation({ file, argument, ...rest }: Variation): boolean {
  return (
    file.length > 0 ||
    argument.length > 0 ||
    [rest.name, rest.gpuModels, rest.maxPrice, rest.minutes].some((value) => value !== undefined)
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
  const files = variation.file.map((option) => changeOf(option, before));
  const slug = slugOf(variation.name ?? before.name);
  const stored: NonNullable<TaskVariantBody["files"]> = [];
  for (const { input, path, local } of files) {
    const key = `jobs/${slug}/${path}`;
    await putFile(named, local, key);
    stored.push({ input, key });
  }
  const body = { ...bodyOf(variation), ...(stored.length === 0 ? {} : { files: stored }) };
  return await sendJson(named, "POST", "/api/tasks/{id}/variants", { params, body });
}

function bodyOf({ name, gpuModels, maxPrice, minutes, argument }: Variation): TaskVariantBody {
  return {
    ...(name === undefined ? {} : { name }),
    ...(gpuModels === undefined
      ? {}
      : { gpuModels: gpuModels === "any" ? null : gpuModels.split(",") }),
    ...(maxPrice === undefined ? {} : { maxPricePerGpuHourCents: maxPrice }),
    ...(minutes === undefined ? {} : { timeLimitMinutes: minutes }),
    ...(argument.length === 0 ? {} : { arguments: [...argument] }),
  };
}

/** `scripts/train.py=train.py`: what the job has, and what takes its place. @throws UsageError */
function changeOf(
  option: string,
  { inputs }: Pick<JobParametersReply, "inputs">,
): { input: string; path: string; local: string } {
  const at = option.indexOf("=");
  const [path, local] = at < 0 ? [option, option] : [option.slice(0, at), option.slice(at + 1)];
  const found = inputs.filter(({ key }) => key === path || key.endsWith(`/${path}`));
  const [only] = found;
  if (only === undefined || found.length > 1)
    throw new UsageError(
      "file_unknown",
      only === undefined
        ? `the job read no file ${path}`
        : `the job read ${found.length} files ${path}`,
      "resontech jobs show JOB --json and the page of the job name its inputs. Write PATH=FILE.",
    );
  const place = only.kind === "shard" ? `shards/${only.key.split("/").at(-1)}` : only.path;
  return { input: only.key, path: place, local };
}
