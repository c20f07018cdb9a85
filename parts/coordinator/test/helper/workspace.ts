import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { S3Engine } from "./s3-engine.ts";
import { zipOf } from "./zip-of.ts";

/** The files of a good task, as the public client renders them, by path under `jobs/<slug>/`. */
export function goodFiles(): Record<string, string | Uint8Array> {
  return {
    "scripts/model_def.py": "class Net: pass\n",
    "scripts/custom_client_executor.py": "class GenericClientExecutor: pass\n",
    "scripts/custom_persistor.py": "class GenericPersistor: pass\n",
    "configs/config_fed_client.json": JSON.stringify({
      format_version: 2,
      executors: [
        {
          tasks: ["train"],
          executor: { path: "custom_client_executor.GenericClientExecutor", args: {} },
        },
      ],
      components: [],
    }),
    "configs/config_fed_server.json": JSON.stringify({
      format_version: 2,
      components: [
        {
          id: "persistor",
          path: "custom_persistor.GenericPersistor",
          args: { model: { path: "model_def.Net", args: {} } },
        },
      ],
      workflows: [
        {
          id: "sag",
          path: "nvflare.app_common.workflows.scatter_and_gather.ScatterAndGather",
          args: { num_rounds: 3, min_clients: 2 },
        },
      ],
    }),
    "configs/meta.json": JSON.stringify({
      name: "digits",
      resource_spec: {},
      deploy_map: { app: ["@ALL"] },
      min_clients: 2,
    }),
    "requirements/requirements.txt": "torch\nnvflare\n",
    "shards/shard_0.zip": zipOf({ "data.npz": "zero" }),
    "shards/shard_1.ZIP": zipOf({ "data.npz": "one" }),
  };
}

export function goodBody(slug: string): Record<string, unknown> {
  return {
    name: slug,
    shardsDirPath: `/jobs/${slug}/shards`,
    trainingScriptsFolderPath: `/jobs/${slug}/scripts`,
    trainingConfigFolderPath: `/jobs/${slug}/configs`,
    trainingRequirementsFolderPath: `/jobs/${slug}/requirements`,
    autoSelectWorkers: true,
    gpuModels: ["cpu"],
    maxPricePerGpuHourCents: 100,
  };
}

/** Uploads files as they stand; null leaves one out. */
export async function upload(
  engine: S3Engine,
  bucket: string,
  slug: string,
  files: Record<string, string | Uint8Array | null>,
): Promise<void> {
  await Promise.all(
    Object.entries(files).map(async ([path, body]) => {
      if (body !== null)
        await engine.store.put(bucket, `jobs/${slug}/${path}`, body, "application/octet-stream");
    }),
  );
}

const ECHO = join(import.meta.dirname, "..", "..", "..", "..", "examples", "echo");
/** Of the predictor that {@link uploadPredictor} uploads. */
export const ECHO_SCRIPT = readFileSync(join(ECHO, "scripts", "echo_serve.py"), "utf8");

/** The smallest predictor, as it can be deployed from `inference_jobs/<slug>/`. */
export async function uploadPredictor(
  engine: S3Engine,
  bucket: string,
  slug: string,
): Promise<void> {
  const files = {
    "inference.yaml": readFileSync(join(ECHO, "inference.yaml"), "utf8"),
    "scripts/echo_serve.py": ECHO_SCRIPT,
  };
  await Promise.all(
    Object.entries(files).map(([path, body]) =>
      engine.store.put(bucket, `inference_jobs/${slug}/${path}`, body, "text/plain"),
    ),
  );
}
