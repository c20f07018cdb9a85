/** What becomes of the choices of the page Deploy. */
import t from "tap";
import {
  type Choices,
  engineFor,
  fitOf,
  fitSentence,
  inferenceYaml,
  modelPath,
  type Source,
  weightBytes,
} from "../src/pages/inference/deploy/deploy-plan.ts";

const hub = (...files: [path: string, sizeBytes: number][]): Source => ({
  ...{ from: "hub", model: "lab/mini", revision: "v1" },
  files: files.map(([path, sizeBytes]) => ({ path, sizeBytes })),
});
const CHOICES: Choices = {
  ...{ file: "", contextTokens: 4096, callsAtOnce: 4 },
  purpose: "chat",
  ...{ leastReplicas: 0, mostReplicas: 2 },
};

t.test("the engine follows from what the model consists of", async (t) => {
  t.equal(engineFor(hub(["a.gguf", 1])), "llama.cpp");
  t.equal(engineFor(hub(["config.json", 1], ["model.safetensors", 9])), "vllm");
  t.equal(engineFor(hub(["model.safetensors", 9])), null, "it lacks its configuration");
  t.equal(engineFor({ from: "bucket", path: "/models/a.gguf" }), "llama.cpp");
  t.equal(engineFor({ from: "bucket", path: "/models/a.pt" }), null);
});

t.test("the file names the weights, and quotes what a name has in it", async (t) => {
  const source = hub(["a b.gguf", 1], ["c.gguf", 2]);
  t.equal(modelPath(source, "a b.gguf"), "hub:lab/mini@v1/a b.gguf");
  t.equal(
    inferenceYaml(source, "llama.cpp", { ...CHOICES, file: "a b.gguf" }),
    [
      ...["engine: llama.cpp", "model:", '  path: "hub:lab/mini@v1/a b.gguf"', "cluster:"],
      ...["  device: cpu", "  max_ongoing_requests: 4", "  autoscaling:", "    min_replicas: 0"],
      ...["    max_replicas: 2", "llama:", "  context_tokens: 4096", "  task: generate", ""],
    ].join("\n"),
  );
  t.match(
    inferenceYaml(hub(["config.json", 1], ["m.safetensors", 2]), "vllm", CHOICES),
    /path: "hub:lab\/mini@v1"\ncluster:\n {2}device: cuda\n[^]*vllm:\n {2}context_tokens: 4096\n$/,
  );
});

t.test("only what the engine reads counts for its memory", async (t) => {
  const gguf = hub(["a.gguf", 5], ["b.gguf", 7]);
  t.equal(weightBytes(gguf, "llama.cpp", "b.gguf"), 7);
  t.equal(weightBytes(hub(["config.json", 1], ["m.safetensors", 2]), "vllm", ""), 2);
  t.equal(weightBytes({ from: "bucket", path: "/a.gguf" }, "llama.cpp", ""), null);
});

t.test("workers that have the memory are told from those that are free", async (t) => {
  const worker = (model: string, gb: number, status: string) => ({
    ...{ model, total_memory_mb: gb * 1024, status },
  });
  const workers = [
    ...[worker("cpu", 4, "free"), worker("cpu", 16, "busy"), worker("cpu", 16, "unavailable")],
    worker("h100", 80, "free"),
  ];
  const fit = fitOf(8 * 1024 ** 3, false, workers);
  t.same(fit, { free: 0, able: 1, all: 3 });
  t.match(fitSentence(fit, false), "1 of 3 processor workers have the memory; all are in use");
  t.same(fitOf(8 * 1024 ** 3, true, workers), { free: 1, able: 1, all: 1 });
  t.match(fitSentence(fitOf(1, true, []), true), "no GPU worker");
  t.match(fitSentence(fitOf(1e15, false, workers), false), "None of the 3");
});
