/** A model for llama.cpp is deployed by the route that takes predictors: what is kept of it, and what is wrong with one. */
import t from "tap";
import { startS3Engine } from "../helper/s3-engine.ts";
import { makeTestApp, TEST_IMAGE } from "../helper/test-app.ts";

const dir = t.testdir();
const engine = await startS3Engine(dir);
t.teardown(() => engine.close());
const SERVE_IMAGE = {
  ...{ profile: "serve-cpu", sizeBytes: 1, pythonVersion: "3.11.2" },
  reference: `localhost:5000/resontech/serve-cpu@sha256:${"1".repeat(64)}`,
  packages: { xllamacpp: "2026.10.11549" },
};
const api = await makeTestApp(`${dir}/app`, engine, { images: [TEST_IMAGE, SERVE_IMAGE] });
t.teardown(() => api.close());
const without = await makeTestApp(`${dir}/without`, engine);
t.teardown(() => without.close());
const alice = await api.addUser("alice");
const put = (path: string, body: string, bucket = alice.bucket) =>
  engine.store.put(bucket, `inference_jobs/chat/${path}`, body, "application/octet-stream");
const YAML = "engine: llama.cpp\nmodel: {path: small.gguf}\nllama: {context_tokens: 512}\n";
await put("inference.yaml", YAML);
await put("model/small.gguf", "GGUF and more");
await put("scripts/not_read.py", "rsk_live_0123456789abcdef0123456789abcdef");
const body = { name: "chat", jobPath: "/inference_jobs/chat", gpuModels: ["cpu"] };
const deploy = (change: Record<string, unknown> = {}) =>
  api.call(alice, { method: "POST", url: "/api/inference/jobs", payload: { ...body, ...change } });

t.test("weights are its one input, and its image is the one with the engine", async (t) => {
  t.match(await deploy(), {
    status: 201,
    body: { status: "QUEUED", apiKey: /^rpk_/, warnings: [] },
  });
  const task = api.kernel.tasks.at(-1);
  t.match(task, {
    ...{ kind: "predictor", image: { profile: "serve-cpu" } },
    spec: {
      ...{ engine: "llama.cpp", modelPath: "/app/model/small.gguf", task: "generate" },
      ...{ contextTokens: 512, maxOngoingRequests: 4 },
    },
  });
  t.same(
    task?.images?.map(({ profile }) => profile),
    ["serve-cpu"],
  );
  t.same(
    task?.inputs.map(({ kind, target }) => [kind, target]),
    [["model", "model/small.gguf"]],
  );
});

t.test("what is no GGUF is refused before anything runs, and a GPU in vain", async (t) => {
  const refused = async (yaml: string) => {
    await put("inference.yaml", yaml);
    const { status, body: said } = await deploy();
    return [status, said["code"]];
  };
  await put("model/text.gguf", "this is no model");
  await put("model/tiny.gguf", "GG");
  await put("model/none.gguf", "");
  for (const name of ["text", "tiny", "none"])
    t.same(await refused(`engine: llama.cpp\nmodel: {path: ${name}.gguf}\n`), [
      400,
      "weights_invalid",
    ]);
  t.same(await refused("engine: llama.cpp\nmodel: {path: gone.gguf}\n"), [400, "weights_missing"]);
  t.same(await refused(`${YAML}cluster: {device: cuda}\n`), [400, "engine_unavailable"]);
  t.same(await refused("engine: vllm_openai\nmodel: {path: small.gguf}\n"), [
    ...[400, "engine_unavailable"],
  ]);
});

t.test("a release without the engine says so", async (t) => {
  const bob = await without.addUser("bob");
  await put("inference.yaml", YAML, bob.bucket);
  await put("model/small.gguf", "GGUF and more", bob.bucket);
  t.match(await without.call(bob, { method: "POST", url: "/api/inference/jobs", payload: body }), {
    ...{ status: 400, body: { code: "engine_unavailable", message: /fl-cpu has no llama\.cpp/ } },
  });
});
