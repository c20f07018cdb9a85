/** A folder of a predictor or of an engine's model on somebody's disk as a deployment: what the public client uploads, without a line of Python. Pure. */
import type { DeployBody } from "@resontech/contracts/http-inference";
import { slugOf } from "@resontech/contracts/ready-folder";

const INFERENCE_YAML = "inference.yaml";
const PARTS = ["scripts", "model", "sample_data"];
/** What Python leaves beside a script that ran. */
const LEFT_BY_PYTHON = "__pycache__";

/** What a person may wish of where the deployment runs. */
export type DeploymentSpec = {
  gpuModels?: string[] | undefined;
  maxPriceCents?: number | undefined;
  memoryMb?: number | undefined;
  /** Whose place it is to take. */
  replaces?: string | undefined;
  /** Whom its answers are posted to as well. */
  callbackUrl?: string | undefined;
  /** Where its replicas start, and nowhere else. */
  pool?: string | undefined;
};

/** Whether a file of the folder is a part of the deployment. @param path below the folder, with `/` */
export function isOfPredictor(path: string): boolean {
  const [top = "", ...below] = path.split("/");
  if (below.length === 0) return path === INFERENCE_YAML;
  return PARTS.includes(top) && !below.includes(LEFT_BY_PYTHON);
}

/**
 * Whether there is anything to deploy. What else it needs `inference.yaml` says, which the appliance reads: an engine whose weights lie in the bucket or
 * in the hub needs nothing.
 * @param paths below the folder, with `/`
 */
export function isDeployable(paths: readonly string[]): boolean {
  return paths.includes(INFERENCE_YAML);
}

/**
 * Bucket key of the deployment's folder, without slashes at the ends.
 * @param version null: the name's own folder; else one beside it, for the one that is to be replaced uses that
 */
export function folderOfPredictor(name: string, version: string | null): string {
  return `inference_jobs/${slugOf(name)}${version === null ? "" : `-${version}`}`;
}

/** Builds the body for `POST /api/inference/jobs`, once the files lie in the folder. */
export function bodyOfPredictor(
  name: string,
  folder: string,
  { gpuModels, maxPriceCents, memoryMb, replaces, callbackUrl, pool }: DeploymentSpec,
): DeployBody {
  return {
    name,
    jobPath: `/${folder}`,
    visibility: "PRIVATE",
    autoSelectWorkers: true,
    ...(gpuModels === undefined ? {} : { gpuModels }),
    ...(maxPriceCents === undefined ? {} : { maxPricePerGpuHourCents: maxPriceCents }),
    ...(replaces === undefined ? {} : { replaces }),
    ...(callbackUrl === undefined ? {} : { callbackUrl }),
    ...(pool === undefined ? {} : { pool }),
    ...(memoryMb === undefined ? {} : { estimatedMemoryMb: memoryMb }),
  };
}
