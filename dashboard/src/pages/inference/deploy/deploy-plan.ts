/** What a person chose on the page becomes the `inference.yaml` of a deployment. Pure. */

/** Where the weights lie, or a folder that has its own `inference.yaml`. */
export type Source =
  | {
      from: "hub";
      model: string;
      revision: string;
      files: readonly { path: string; sizeBytes: number }[];
    }
  | { from: "bucket"; path: string };

export const PURPOSES = ["chat", "embeddings"] as const;
export type Purpose = (typeof PURPOSES)[number];

export type Choices = {
  /** One of the GGUF files; empty where there is one, or none. */
  file: string;
  purpose: Purpose;
  contextTokens: number;
  callsAtOnce: number;
  leastReplicas: number;
  mostReplicas: number;
};

export type ModelEngine = "llama.cpp" | "vllm";

/** Files of the model that llama.cpp reads. */
export function ggufFiles(source: Source): string[] {
  if (source.from === "bucket") return source.path.endsWith(".gguf") ? [source.path] : [];
  return source.files.map(({ path }) => path).filter((path) => path.endsWith(".gguf"));
}

/** By what the model consists of; null where no engine reads it. */
export function engineFor(source: Source): ModelEngine | null {
  if (ggufFiles(source).length > 0) return "llama.cpp";
  if (source.from === "bucket") return null;
  const has = (is: (path: string) => boolean) => source.files.some(({ path }) => is(path));
  const isWhole =
    has((path) => path === "config.json") && has((path) => path.endsWith(".safetensors"));
  return isWhole ? "vllm" : null;
}

/** Bytes of what the engine reads; null where only the bucket knows. */
export function weightBytes(source: Source, engine: ModelEngine, file: string): number | null {
  if (source.from === "bucket") return null;
  const read = source.files.filter(({ path }) =>
    engine === "vllm" ? path.endsWith(".safetensors") : path === file,
  );
  return read.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}

/** `model.path`, as `inference.yaml` has it. */
export function modelPath(source: Source, file: string): string {
  if (source.from === "bucket") return source.path;
  const whole = `hub:${source.model}@${source.revision}`;
  return file === "" ? whole : `${whole}/${file}`;
}

export function inferenceYaml(
  source: Source,
  engine: ModelEngine,
  { file, purpose, contextTokens, callsAtOnce, leastReplicas, mostReplicas }: Choices,
): string {
  const path = modelPath(source, engine === "vllm" ? "" : file);
  return [
    `engine: ${engine}`,
    "model:",
    // JSON is YAML, and quotes whatever a name has in it.
    `  path: ${JSON.stringify(path)}`,
    "cluster:",
    `  device: ${engine === "vllm" ? "cuda" : "cpu"}`,
    `  max_ongoing_requests: ${callsAtOnce}`,
    "  autoscaling:",
    `    min_replicas: ${leastReplicas}`,
    `    max_replicas: ${Math.max(mostReplicas, leastReplicas, 1)}`,
    engine === "vllm" ? "vllm:" : "llama:",
    `  context_tokens: ${contextTokens}`,
    ...(engine === "llama.cpp" ? [`  task: ${purpose === "chat" ? "generate" : "embed"}`] : []),
    "",
  ].join("\n");
}

export type Fit = { free: number; able: number; all: number };

/**
 * Workers that have room for the weights and a quarter more, which contexts and the program take.
 * @param needsDevice whether it runs on a GPU; else on processors
 */
export function fitOf(
  bytes: number,
  needsDevice: boolean,
  workers: readonly { model: string; total_memory_mb: number; status: string }[],
): Fit {
  const kind = workers.filter(({ model }) => (model === "cpu") !== needsDevice);
  const needed = (bytes * 1.25) / 1024 ** 2;
  const able = kind.filter(
    ({ total_memory_mb: memory, status }) => memory >= needed && status !== "unavailable",
  );
  return {
    free: able.filter(({ status }) => status === "free").length,
    able: able.length,
    all: kind.length,
  };
}

export function fitSentence({ free, able, all }: Fit, needsDevice: boolean): string {
  const kind = needsDevice ? "GPU" : "processor";
  if (all === 0)
    return `This appliance has no ${kind} worker: the deployment waits until one joins.`;
  if (able === 0) return `None of the ${all} ${kind} workers has the memory. It will wait.`;
  if (free === 0)
    return `${able} of ${all} ${kind} workers have the memory; all are in use. It waits for one.`;
  return `${able} of ${all} ${kind} workers have the memory, ${free} of them free now.`;
}
