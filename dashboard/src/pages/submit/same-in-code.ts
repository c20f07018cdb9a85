/** What a form would send, for a shell and for Python. Pure. */
import type {
  SubmitCommandBody,
  SubmitTaskBody,
  TaskVariantBody,
} from "@resontech/contracts/http-tasks";
import { shellWord } from "@resontech/contracts/shell-word";

export type SameInCode = { shell: string; python: string };

/** Addresses and keys, as whoever mints them hands them out. */
const CLIENT = [
  "sdk = ResonTech(",
  "    ResonTechConfig(",
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

type Wishes = { name: string; models: string; price: string; minutes: string };

export function folderInCode(folder: string, { name, models, price, minutes }: Wishes): SameInCode {
  const path = folder === "" ? "FOLDER" : `${folder}/`;
  const options = [
    name === "" || name === folder ? null : `--name ${shellWord(name)}`,
    models === "" ? null : `--gpu-models ${shellWord(models)}`,
    price === "" ? null : `--max-price ${price}`,
    minutes === "" ? null : `--minutes ${minutes}`,
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
      models === "" ? null : `    gpu_models=${pythonOf(models.split(","))},`,
      price === "" ? null : `    max_price_per_gpu_hour=${(Number(price) / 100).toFixed(2)},`,
      ")",
      "print(job.id)",
    ]
      .filter((line) => line !== null)
      .join("\n"),
  };
}

/** @param files by the path that a member finds them at, each as a name on somebody's disk */
export function variantInCode(
  job: string,
  body: Omit<TaskVariantBody, "files">,
  files: readonly { path: string; input: string; key: string }[],
): SameInCode {
  const { name, gpuModels, maxPricePerGpuHourCents: price, timeLimitMinutes: minutes } = body;
  const option = (flag: string, value: string | number | null | undefined) =>
    value === undefined ? null : `${flag} ${value === null ? "any" : shellWord(String(value))}`;
  const told = files.map(({ input, key }) => ({ input, key, versionId: "VERSION" }));
  return {
    shell: [
      `resontech jobs resubmit ${job}`,
      option("--name", name),
      option("--gpu-models", gpuModels === null ? null : gpuModels?.join(",")),
      option("--max-price", price),
      option("--minutes", minutes),
      ...files.map(({ path }) => `--file ${shellWord(`${path}=${path}`)}`),
      ...(body.arguments ?? []).map((argument) => `--argument=${shellWord(argument)}`),
    ]
      .filter((part) => part !== null)
      .join(" "),
    python: [
      "import os",
      "import httpx",
      "",
      `answer = httpx.post(`,
      `    os.environ["RESON_BASE_URL"] + "/api/tasks/${job}/variants",`,
      `    headers={"authorization": "Bearer " + os.environ["RESON_API_KEY"]},`,
      `    json=${indented(pythonOf({ ...body, ...(told.length === 0 ? {} : { files: told }) }))},`,
      ")",
      'print(answer.raise_for_status().json()["id"])',
    ].join("\n"),
  };
}

/** @param file its name on somebody's disk */
export function commandInCode(file: string, body: SubmitCommandBody): SameInCode {
  const key = body.scriptPath.slice(1);
  return {
    shell: [
      `resontech storage put ${shellWord(file)} ${shellWord(key)}`,
      `curl --fail -H "Authorization: Bearer $RESON_API_KEY" -H 'content-type: application/json' \\`,
      `  -d ${shellWord(JSON.stringify(body))} "$RESON_BASE_URL/api/tasks"`,
    ].join("\n"),
    python: [
      "import os",
      "import httpx",
      "from resontech import ResonTech, ResonTechConfig",
      "",
      ...CLIENT,
      `sdk.storage.boto3.upload_file(${pythonOf(file)}, sdk.storage.bucket, ${pythonOf(key)})`,
      "answer = httpx.post(",
      `    os.environ["RESON_BASE_URL"] + "/api/tasks",`,
      `    headers={"authorization": "Bearer " + os.environ["RESON_API_KEY"]},`,
      `    json=${indented(pythonOf(body satisfies SubmitTaskBody))},`,
      ")",
      'print(answer.raise_for_status().json()["id"])',
    ].join("\n"),
  };
}

export function predictorInCode({ name, models }: { name: string; models: string }): SameInCode {
  const options = [
    `--name ${shellWord(name)}`,
    models === "" ? null : `--gpu-models ${shellWord(models)}`,
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
      `    inference=InferenceConfig(gpu_models=${pythonOf(models === "" ? null : models.split(","))}),`,
      '    inference_yaml="FOLDER/inference.yaml",',
      '    scripts_dir="FOLDER/scripts",',
      ")",
      "job.wait_until_ready(timeout=180, poll=0.5)",
      "print(job.id)",
    ].join("\n"),
  };
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
