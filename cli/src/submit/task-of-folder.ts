/** A ready folder as the body of a task. Pure. */
import { CliError } from "../cli-error.ts";

/** Folders of a federation, as the public client renders them: name → field of the body. */
const FOLDERS = {
  shards: "shardsDirPath",
  scripts: "trainingScriptsFolderPath",
  configs: "trainingConfigFolderPath",
  requirements: "trainingRequirementsFolderPath",
} as const;
const MODEL = "model";

export type Wishes = {
  name: string;
  gpuModels?: readonly string[];
  maxPriceCents?: number;
  memoryMb?: number;
  minutes?: number;
};

/** The part of a bucket's key that stands for the job. */
export function slugOf(name: string): string {
  const slug = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replaceAll(/^[-.]+|[-.]+$/g, "");
  return slug === "" ? "job" : slug.slice(0, 64);
}

/** @param folders that stand at the top of the folder @throws CliError `folder_invalid` */
export function taskOfFolder(
  folders: readonly string[],
  slug: string,
  { name, gpuModels, maxPriceCents, memoryMb, minutes }: Wishes,
): Record<string, unknown> {
  const missing = Object.keys(FOLDERS).filter((folder) => !folders.includes(folder));
  if (missing.length > 0)
    throw new CliError(
      "folder_invalid",
      `the folder lacks ${missing.map((folder) => `${folder}/`).join(", ")}`,
      "A ready folder has shards/, scripts/, configs/ and requirements/, and may have model/.",
    );
  const root = `/jobs/${slug}`;
  return {
    name,
    ...Object.fromEntries(
      Object.entries(FOLDERS).map(([folder, field]) => [field, `${root}/${folder}`]),
    ),
    ...(folders.includes(MODEL) ? { modelFolderPath: `${root}/${MODEL}` } : {}),
    autoSelectWorkers: true,
    ...(gpuModels === undefined ? {} : { gpuModels }),
    ...(maxPriceCents === undefined ? {} : { maxPricePerGpuHourCents: maxPriceCents }),
    ...(memoryMb === undefined ? {} : { estimatedMemoryMb: memoryMb }),
    ...(minutes === undefined ? {} : { timeLimitMinutes: minutes }),
  };
}
