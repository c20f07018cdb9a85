/** What a replica's container is told to run. */
import t from "tap";
import type { DescribedMember } from "../../../src/kernel/workload.ts";
import { type Deployment, predictor } from "../../../src/workloads/predictor/predictor.ts";

const common = {
  maxOngoingRequests: 3,
  visibility: "PRIVATE",
  callbackUrl: null,
  replaces: null,
  keySha256: "0".repeat(64),
  scaling: { min: 1, max: 1, targetOngoing: 3 },
} as const;
function described(deployment: Deployment) {
  const { command, files } = predictor.describe({
    job: { name: "small chat", spec: JSON.stringify(deployment) },
    ...{ attempt: { server_name: "s" }, member: { id: "m-1" } },
    // Of the rows nothing else is read.
  } as DescribedMember);
  const [file] = files;
  return {
    program: command.at(-1),
    name: file?.name,
    spec: JSON.parse(file?.text ?? "") as unknown,
  };
}

t.test("a predictor's class, and a model's engine with what may reach it", async (t) => {
  t.match(
    described({
      ...{ ...common, engine: "predictor", module: "m", className: "P" },
      ...{ initArgs: { a: 1 }, modelPath: null },
    }),
    {
      ...{ program: "/rt/runner/predict.py", name: "predictor.json" },
      spec: { module: "m", replica: "m-1", port: 8_080, maxOngoingRequests: 3 },
    },
  );
  t.match(described({ ...common, engine: "embeddings", modelPath: null }), {
    ...{ program: "/rt/runner/embeddings.py", name: "embeddings.json" },
    spec: { name: "small chat", folder: "/app/model", maxInputs: 2_048, maxOngoingRequests: 3 },
  });
  const { program, name, spec } = described({
    ...{ ...common, engine: "llama.cpp", task: "embed", pooling: "mean", contextTokens: 512 },
    modelPath: "/app/model/a.gguf",
  });
  t.match({ program, name }, { program: "/rt/runner/llama.py", name: "llama.json" });
  t.match(spec, { name: "small chat", pooling: "mean" });
  t.match(spec, { modelPath: "/app/model/a.gguf", task: "embed", slots: 3, contextTokens: 512 });
  const { allowed } = spec as { allowed: Record<string, string[]> };
  t.same(Object.keys(allowed), ["/v1/chat/completions", "/v1/completions", "/v1/embeddings"]);
  for (const fields of Object.values(allowed))
    t.notOk(fields.some((field) => /template|slot|lora|grammar|salt|n_discard/.test(field)));
});

t.test(
  "vLLM gets a folder, its share of one device, and what a gateway sets by itself",
  async (t) => {
    const deployment: Deployment = {
      ...common,
      ...{ engine: "vllm", modelPath: null, contextTokens: 512, memoryShare: 0.5 },
      ...{ toolCallParser: "hermes", reasoningParser: null },
    };
    const { program, name, spec } = described(deployment);
    t.match({ program, name }, { program: "/rt/runner/serve_vllm.py", name: "vllm.json" });
    t.match(spec, {
      ...{ name: "small chat", modelPath: "/app/model", slots: 3, contextTokens: 512, devices: 1 },
      ...{ memoryShare: 0.5, toolCallParser: "hermes", reasoningParser: null },
    });
    const { allowed } = spec as { allowed: Record<string, string[]> };
    t.same(Object.keys(allowed), ["/v1/chat/completions", "/v1/completions"]);
    for (const fields of Object.values(allowed)) {
      t.ok(fields.includes("cache_salt"));
      t.notOk(fields.some((field) => /template|lora|embeds|media|priority|xargs|kv_/.test(field)));
    }
    const hub = described({ ...deployment, modelPath: "/app/model/hub/m" });
    t.match(hub.spec, { modelPath: "/app/model/hub/m" });
    t.match(described({ ...deployment, workers: 4 }).spec, { devices: 4 });
  },
);
