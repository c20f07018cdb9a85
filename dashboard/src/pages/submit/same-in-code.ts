/** What a form would send, for a shell and for Python. Pure. */
import { type ChangedFiles, placeOf } from "@resontech/contracts/changed-files";
import type { JobParametersReply } from "@resontech/contracts/http-jobs";
import type {
  SubmitCommandBody,
  SubmitDistributedBody,
  SubmitTaskBody,
  TaskVariantBody,
} from "@resontech/contracts/http-tasks";
import { curlWithKey } from "../../api/curl-with-key.ts";
import { shellWord } from "@resontech/contracts/shell-word";

export type SameInCode = { shell: string; python: string };

/** Addresses and keys, as whoever mints them hands them out. */
const CONFIG = "    ResonTechConfig(";
const CLIENT = [
  "sdk = ResonTech(",
  CONFIG,
  ...[
    ["base_url", "RESON_BASE_URL"],
    ["s3_access_key_id", "RESON_S3_ACCESS_KEY_ID"],
    ["s3_secret_access_key", "RESON_S3_SECRET_ACCESS_KEY"],
    ["s3_endpoint", "RESON_S3_ENDPOINT"],
    ["dashboard_url", "RESON_DASHBOARD_URL"],
  ].map(([field, variable]) => `        ${field}=os.environ["${variable}"],`),
  "    )",
  ")",
] as const;

/** What the client has no call of its own for. */
const API = [
  "api = httpx.Client(",
  '    base_url=os.environ["RESON_BASE_URL"],',
  '    headers={"authorization": "Bearer " + os.environ["RESON_API_KEY"]},',
  ")",
] as const;

/** The client asks for the bucket when it submits, and not before: whoever only sends files names it. */
const SENDER = [
  "import os",
  "import httpx",
  "from resontech import ResonTech, ResonTechConfig",
  "",
  ...API,
  'bucket = api.get("/api/users/storage/bucket").raise_for_status().json()["bucketAlias"]',
  ...CLIENT.flatMap((line) =>
    line === CONFIG ? [line, "        s3_bucket_alias=bucket,"] : [line],
  ),
] as const;

type Wishes = {
  name: string;
  models: string;
  price: string;
  minutes: string;
  pool: string;
  jobClass: string;
  makesWay: "" | "yes" | "no";
};

export function folderInCode(folder: string, wishes: Wishes): SameInCode {
  const { name, models, price, minutes, pool, jobClass, makesWay } = wishes;
  const path = folder === "" ? "FOLDER" : `${folder}/`;
  const options = [
    name === "" || name === folder ? null : `--name ${shellWord(name)}`,
    models === "" ? null : `--gpu-models ${shellWord(models)}`,
    price === "" ? null : `--max-price ${price}`,
    minutes === "" ? null : `--minutes ${minutes}`,
    pool === "" ? null : `--pool ${shellWord(pool)}`,
    jobClass === "" ? null : `--class ${jobClass}`,
    makesWay === "" ? null : makesWayOption(makesWay === "yes"),
  ].filter((option) => option !== null);
  return {
    shell: ["resontech submit", shellWord(path), ...options].join(" "),
    python: [
      "import os",
      "from resontech import FederationConfig, ResonTech, ResonTechConfig, TrainingConfig",
      "from my_model import Net  # a torch module of yours",
      "",
      ...CLIENT,
      "job = sdk.rt_submit(",
      "    model=Net,",
      `    name=${pythonOf(name === "" ? "my job" : name)},`,
      `    shards_dir=${pythonOf(`${path.replace(/\/$/, "")}/shards`)},`,
      "    training=TrainingConfig(local_epochs=1, batch_size=32, learning_rate=0.01),",
      "    federation=FederationConfig(num_rounds=3, min_clients=2),",
      ...choiceInPython(models, price).map((line) => `    ${line}`),
      ")",
      "print(job.id)",
    ].join("\n"),
  };
}

/** @param changed with keys in the new job's folder @param inputs of the earlier job */
export function variantInCode(
  job: string,
  body: Omit<TaskVariantBody, keyof ChangedFiles>,
  changed: ChangedFiles,
  inputs: JobParametersReply["inputs"],
): SameInCode {
  const { name, gpuModels, maxPricePerGpuHourCents: price, timeLimitMinutes: minutes } = body;
  const { files = [], addedFiles = [], removedFiles = [] } = changed;
  const option = (flag: string, value: string | number | null | undefined) =>
    value === undefined ? null : `${flag} ${value === null ? "any" : shellWord(String(value))}`;
  const placeOfKey = (key: string) => {
    const input = inputs.find((one) => one.key === key);
    return input === undefined ? key : placeOf(input);
  };
  const uploads = [
    ...files.map(({ input, key }) => ({ path: placeOfKey(input), key })),
    ...addedFiles.map(({ path, key }) => ({ path, key })),
  ];
  return {
    shell: [
      `resontech jobs resubmit ${job}`,
      option("--name", name),
      option("--gpu-models", gpuModels === null ? null : gpuModels?.join(",")),
      option("--max-price", price),
      option("--memory", body.estimatedMemoryMb),
      option("--minutes", minutes),
      // The shell has no word for what the kind has.
      body.class == null ? null : `--class ${body.class}`,
      body.preemptible == null ? null : makesWayOption(body.preemptible),
      option("--pool", body.pool),
      ...files.map(({ input }) => placeOfKey(input)).map((path) => pathOption("--file", path)),
      ...addedFiles.map(({ path }) => pathOption("--add", path)),
      ...removedFiles.map((key) => `--remove ${shellWord(placeOfKey(key))}`),
      ...(body.arguments ?? []).map((argument) => `--argument=${shellWord(argument)}`),
      ...Object.entries(body.environment ?? {}).map(
        ([variable, value]) => `--env ${shellWord(`${variable}=${value}`)}`,
      ),
    ]
      .filter((part) => part !== null)
      .join(" "),
    python: [
      ...(uploads.length === 0 ? ["import os", "import httpx", "", ...API] : SENDER),
      ...uploads.map(({ path, key }) => uploadInPython(path, key)),
      "answer = api.post(",
      `    "/api/tasks/${job}/variants",`,
      `    json=${indented(pythonOf({ ...body, ...changed }))},`,
      ")",
      'print(answer.raise_for_status().json()["id"])',
    ].join("\n"),
  };
}

function makesWayOption(makesWay: boolean): string {
  return makesWay ? "--preemptible" : "--no-preemptible";
}

function pathOption(flag: string, path: string): string {
  return `${flag} ${shellWord(`${path}=${path}`)}`;
}

function uploadInPython(file: string, key: string): string {
  return `sdk.storage.upload_file(${pythonOf(file)}, ${pythonOf(key)})`;
}

/** @param file its name on somebody's disk @param inputs names of files there, which go into the input folder */
export function commandInCode(
  file: string,
  body: SubmitCommandBody | SubmitDistributedBody,
  inputs: readonly string[],
): SameInCode {
  const folder = (body.inputFolders?.[0] ?? "").slice(1);
  const uploads = [
    { path: file, key: body.scriptPath.slice(1) },
    ...inputs.map((path) => ({ path, key: `${folder}/${path}` })),
  ];
  return {
    shell: [
      ...uploads.map(
        ({ path, key }) => `resontech storage put ${shellWord(path)} ${shellWord(key)}`,
      ),
      ...curlWithKey("Authorization: Bearer %s", "RESON_API_KEY"),
      "  --header 'Content-Type: application/json' \\",
      `  --data ${shellWord(JSON.stringify(body))} "$RESON_BASE_URL/api/tasks"`,
    ].join("\n"),
    python: [
      ...SENDER,
      ...uploads.map(({ path, key }) => uploadInPython(path, key)),
      "answer = api.post(",
      '    "/api/tasks",',
      `    json=${indented(pythonOf(body satisfies SubmitTaskBody))},`,
      ")",
      'print(answer.raise_for_status().json()["id"])',
    ].join("\n"),
  };
}

export function predictorInCode({
  name,
  models,
  pool,
}: {
  name: string;
  models: string;
  pool: string;
}): SameInCode {
  const options = [
    `--name ${shellWord(name)}`,
    models === "" ? null : `--gpu-models ${shellWord(models)}`,
    pool === "" ? null : `--pool ${shellWord(pool)}`,
    "--key-file predict.key --wait",
  ].filter((option) => option !== null);
  return {
    shell: ["resontech infer deploy FOLDER", ...options].join(" "),
    python: [
      "import os",
      "from resontech import InferenceConfig, ResonTech, ResonTechConfig",
      "",
      ...CLIENT,
      "job = sdk.rt_submit_inference(",
      `    name=${pythonOf(name)},`,
      "    inference=InferenceConfig(",
      ...choiceInPython(models, "").map((line) => `        ${line}`),
      "    ),",
      '    inference_yaml="FOLDER/inference.yaml",',
      '    scripts_dir="FOLDER/scripts",',
      ")",
      "job.wait_until_ready(timeout=180, poll=0.5)",
      "print(job.id)",
    ].join("\n"),
  };
}

/** The client submits nothing without both. */
function choiceInPython(models: string, price: string): string[] {
  const dollars = price === "" ? 100 : Number(price) / 100;
  return [
    `gpu_models=${pythonOf(models === "" ? ["cpu"] : models.split(","))},`,
    `max_price_per_gpu_hour=${dollars.toFixed(2)},`,
  ];
}

/** A value as Python writes it. */
function pythonOf(value: unknown): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(pythonOf).join(", ")}]`;
  if (typeof value === "object") {
    const lines = Object.entries(value).map(
      ([name, one]) => `    ${JSON.stringify(name)}: ${pythonOf(one)},`,
    );
    return lines.length === 0 ? "{}" : `{\n${lines.join("\n")}\n}`;
  }
  // Strings of JSON are strings of Python.
  return JSON.stringify(value);
}

function indented(text: string): string {
  return text.replaceAll("\n", "\n    ");
}
