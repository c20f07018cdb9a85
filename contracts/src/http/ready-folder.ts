/** A ready folder on somebody's disk as a task: what the public client uploads, without a line of Python. Pure. */
import type { SubmitFederationBody } from "./http-tasks.ts";

const FOLDERS = ["shards", "scripts", "configs", "requirements"] as const;
const MODEL = "model";
const MAX_SLUG = 64;

/** What a person may wish of where and how long the task runs. */
export type TaskSpec = {
  gpuModels?: string[] | undefined;
  maxPriceCents?: number | undefined;
  memoryMb?: number | undefined;
  minutes?: number | undefined;
  /** For each member. */
  workers?: number | undefined;
  cpus?: number | undefined;
  hostMemoryMb?: number | undefined;
  after?: SubmitFederationBody["after"];
  pool?: string | undefined;
  jobClass?: SubmitFederationBody["class"];
  isPreemptible?: boolean | undefined;
};

/** What the folder lacks; none where it is ready. @param folders that stand at its top */
export function missingFolders(folders: readonly string[]): string[] {
  return FOLDERS.filter((folder) => !folders.includes(folder));
}

/** The part of the bucket's keys that stands for the task: `jobs/SLUG/…`. */
export function slugOf(name: string): string {
  const slug = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replaceAll(/^[-.]+|[-.]+$/g, "");
  return slug === "" ? "job" : slug.slice(0, MAX_SLUG);
}

/** Builds the body for `POST /api/tasks`, once the files lie below `jobs/SLUG/`. */
export function bodyOfFolder(
  name: string,
  folders: readonly string[],
  {
    gpuModels,
    maxPriceCents,
    memoryMb,
    minutes,
    workers,
    cpus,
    hostMemoryMb,
    after,
    pool,
    jobClass,
    isPreemptible,
  }: TaskSpec,
): SubmitFederationBody {
  const root = `/jobs/${slugOf(name)}`;
  return {
    name,
    shardsDirPath: `${root}/shards`,
    trainingScriptsFolderPath: `${root}/scripts`,
    trainingConfigFolderPath: `${root}/configs`,
    trainingRequirementsFolderPath: `${root}/requirements`,
    ...(folders.includes(MODEL) ? { modelFolderPath: `${root}/${MODEL}` } : {}),
    autoSelectWorkers: true,
    ...(gpuModels === undefined ? {} : { gpuModels }),
    ...(maxPriceCents === undefined ? {} : { maxPricePerGpuHourCents: maxPriceCents }),
    ...(memoryMb === undefined ? {} : { estimatedMemoryMb: memoryMb }),
    ...(minutes === undefined ? {} : { timeLimitMinutes: minutes }),
    ...(workers === undefined ? {} : { workersPerMember: workers }),
    ...(cpus === undefined ? {} : { cpusPerMember: cpus }),
    ...(hostMemoryMb === undefined ? {} : { hostMemoryMbPerMember: hostMemoryMb }),
    ...(after === undefined ? {} : { after }),
    ...(pool === undefined ? {} : { pool }),
    ...(jobClass === undefined ? {} : { class: jobClass }),
    ...(isPreemptible === undefined ? {} : { preemptible: isPreemptible }),
  };
}
