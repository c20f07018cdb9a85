/** A model for llama.cpp is deployed by the route that takes predictors: what is kept of it, and what is wrong with one. */
import t from "tap";
import { startS3Engine } from "../helper/s3-engine.ts";
import { makeTestApp, SERVE_IMAGE, TEST_IMAGE } from "../helper/test-app.ts";

const dir = t.testdir();
const engine = await startS3Engine(dir);
t.teardown(() => engine.close());
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
});

t.test("weights lie anywhere in the bucket, or are what a finished job left", async (t) => {
  const answer = async (yaml: string) => {
    await put("inference.yaml", yaml);
    // What was deployed before is over.
    for (const view of api.kernel.views.values())
      if (view.kind === "predictor") api.kernel.views.set(view.id, { ...view, state: "CANCELLED" });
    const { status, body: said } = await deploy();
    if (status !== 201) return [status, said["code"]];
    return api.kernel.tasks.at(-1)?.inputs.filter(({ kind }) => kind === "model");
  };
  const llama = (path: string) => `engine: llama.cpp\nmodel: {path: "${path}"}\n`;
  const predictor = (path: string) => `model: {module: m, class_name: M, path: "${path}"}\n`;
  await put("scripts/m.py", "class M: pass");
  const shared = await engine.store.put(alice.bucket, "shared/a b.gguf", "GGUF", "x/y");
  t.match(await answer(llama("/shared/a b.gguf")), [
    {
      kind: "model",
      key: "shared/a b.gguf",
      versionId: shared.versionId,
      target: "model/a b.gguf",
    },
  ]);
  t.same(await answer(llama("/shared/none.gguf")), [400, "weights_missing"]);
  t.same(await answer(llama("/shared/../x")), [400, "path_invalid"]);

  const sha256 = "b".repeat(64);
  // Rows of jobs that only the kernel of this test knows.
  api.database.write.pragma("foreign_keys = OFF");
  const left = (job: string, bucket: string) =>
    api.commit.run((db) => {
      const key = "jobs/running/model_out/checkpoint.pt";
      db.prepare(
        `INSERT INTO uploads (id, job_id, member_id, generation, counter, bucket, key, is_log, size_bytes, sha256, part_size_bytes, part_count, state, version_id,
           etag, opened_at) VALUES (@id, @job, 'm', 1, 1, @bucket, @key, 0, 4, @sha256, 4, 1, 'COMPLETED', 'v9', 'e9-1', 1)`,
      ).run({ id: `up-${job}`, job, bucket, key, sha256 });
      db.prepare("INSERT INTO job_outputs (job_id, key, upload_id) VALUES (?, ?, ?)").run(
        ...[job, key, `up-${job}`],
      );
    });
  api.kernel.putRunning(alice, { id: "job-trained", kind: "federation" });
  t.same(await answer(predictor("job:job-trained")), [409, "model_not_ready"]);
  const view = api.kernel.views.get("job-trained")!;
  api.kernel.views.set("job-trained", { ...view, state: "SUCCEEDED" });
  t.same(await answer(predictor("job:job-trained")), [404, "model_not_found"]);
  await left("job-trained", alice.bucket);
  t.match(await answer(predictor("job:job-trained")), [
    {
      ...{ kind: "model", bucket: alice.bucket, versionId: "v9", sha256 },
      ...{ key: "jobs/running/model_out/checkpoint.pt", target: "model/checkpoint.pt" },
    },
  ]);
  t.match(api.kernel.tasks.at(-1)?.spec, {
    modelPath: "/app/model/checkpoint.pt",
    weights: { named: "job:job-trained", versionId: "v9", sizeBytes: 4, sha256 },
  });
  t.match(
    api.audit.drafts.findLast(({ type, phase }) => type === "job.submit" && phase === "requested"),
    { detail: { model_sha256: sha256 } },
  );
  t.same(await answer(predictor("job:job-trained/files_out/none.pt")), [404, "model_not_found"]);

  const carol = await api.addUser("carol");
  api.kernel.putRunning(carol, { id: "job-of-carol", kind: "federation" });
  const hers = api.kernel.views.get("job-of-carol")!;
  api.kernel.views.set("job-of-carol", { ...hers, state: "SUCCEEDED" });
  await left("job-of-carol", carol.bucket);
  const other = await answer(predictor("job:job-of-carol"));
  t.same(other, [404, "model_not_found"], "as one that is not there");

  await api.commit.run((db) =>
    db.prepare("UPDATE projects SET exports_by_approval = 1 WHERE id = ?").run(alice.projectId),
  );
  t.same(await answer(predictor("job:job-trained")), [403, "export_controlled"]);
  t.match(await answer(predictor("/shared/a b.gguf")), [{ kind: "model" }], "no output");
  await api.commit.run((db) => db.prepare("UPDATE projects SET exports_by_approval = 0").run());
});

t.test("a predictor gets the image's own versions, and is told so", async (t) => {
  const deployed = async (requirements: string, change: Record<string, unknown> = {}) => {
    for (const view of api.kernel.views.values())
      if (view.kind === "predictor") api.kernel.views.set(view.id, { ...view, state: "CANCELLED" });
    await put("scripts/m.py", "class M: pass");
    await put(
      "inference.yaml",
      `model: {module: m, class_name: M}\nrequirements: ${requirements}\n`,
    );
    const { status, body: said } = await deploy(change);
    return status === 201 ? said["warnings"] : [status, said["code"]];
  };
  t.same(await deployed("[torch>=2, numpy]"), []);
  t.same(await deployed("['torch==2.2.2', numpy]"), [
    "inference.yaml requirement 1: the job image fl-cpu has torch 2.15.0, not ==2.2.2",
  ]);
  t.same(await deployed("[torchvision]"), [400, "requirement_unavailable"]);
  t.same(await deployed("['torch=2']"), [400, "requirement_invalid"]);

  const callbackUrl = "https://hooks.example/a?b=c";
  t.same(await deployed("[]", { callbackUrl }), []);
  const { keySha256, ...spec } = api.kernel.tasks.at(-1)!.spec as Record<string, string>;
  t.match(spec, { callbackUrl, callbackSecret: /^[0-9a-f]{64}$/ });
  t.not(spec["callbackSecret"], keySha256);
  for (const wrong of ["http://hooks.example/", "https://a:b@hooks.example/", "hooks.example"])
    t.same(await deployed("[]", { callbackUrl: wrong }), [400, "callback_url_invalid"], wrong);
});

t.test("vLLM takes a folder of safetensors and a GPU, where the release has it", async (t) => {
  const gpu = await makeTestApp(`${dir}/gpu`, engine, {
    images: [
      TEST_IMAGE,
      SERVE_IMAGE,
      {
        ...{ profile: "fl-cuda13", sizeBytes: 1, pythonVersion: "3.11.2" },
        reference: `localhost:5000/resontech/fl-cuda13@sha256:${"3".repeat(64)}`,
        packages: { torch: "2.15.0" },
        needs: { vendor: "nvidia", leastDriver: "580", architectures: ["9.0"] },
      },
      {
        ...{ profile: "serve-vllm", sizeBytes: 1, pythonVersion: "3.11.2" },
        reference: `localhost:5000/resontech/serve-vllm@sha256:${"2".repeat(64)}`,
        packages: { vllm: "0.33.0" },
        needs: { vendor: "nvidia", leastDriver: "580", architectures: ["9.0"] },
      },
    ],
  });
  t.teardown(() => gpu.close());
  const carol = await gpu.addUser("carla");
  const answer = async (change: Record<string, unknown> = {}) => {
    const payload = { name: "chat", jobPath: "/inference_jobs/chat", ...change };
    const { status, body: said } = await gpu.call(carol, {
      ...{ method: "POST", url: "/api/inference/jobs", payload },
    });
    return status === 201 ? 201 : [status, said["code"]];
  };
  const file = (path: string, text: string) => put(path, text, carol.bucket);
  await file("inference.yaml", "engine: vllm\n");
  t.same(await answer(), [400, "weights_missing"]);
  for (const name of ["config.json", "tokenizer.json", "model.safetensors", "own.py", "model.bin"])
    await file(`model/${name}`, "x");
  t.same(await answer({ gpuModels: ["cpu"] }), [400, "engine_needs_gpu"]);
  t.equal(await answer(), 201);
  const task = gpu.kernel.tasks.at(-1);
  t.match(task, { image: { profile: "serve-vllm" }, spec: { engine: "vllm", modelPath: null } });
  t.same(
    task?.inputs.map(({ target }) => target),
    ["model/config.json", "model/model.safetensors", "model/tokenizer.json"],
  );
  await file("scripts/m.py", "class M: pass");
  await file(
    "inference.yaml",
    "model: {module: m, class_name: M}\ncluster: {device: cuda}\nrequirements: [torch]\n",
  );
  for (const view of gpu.kernel.views.values())
    gpu.kernel.views.set(view.id, { ...view, state: "CANCELLED" });
  t.equal(await answer(), 201);
  t.same(
    gpu.kernel.tasks.at(-1)?.images?.map(({ profile }) => profile),
    ["fl-cuda13"],
    "a predictor with torch runs in an image of jobs",
  );
  await put("inference.yaml", "engine: vllm\n");
  for (const name of ["config.json", "tokenizer.json", "model.safetensors"])
    await put(`model/${name}`, "x");
  t.match(await deploy({ gpuModels: undefined }), {
    ...{ status: 400, body: { code: "engine_unavailable", message: /without the profile cuda/ } },
  });
});

t.test("a release without the engine says so", async (t) => {
  const bob = await without.addUser("bob");
  await put("inference.yaml", YAML, bob.bucket);
  await put("model/small.gguf", "GGUF and more", bob.bucket);
  t.match(await without.call(bob, { method: "POST", url: "/api/inference/jobs", payload: body }), {
    ...{ status: 400, body: { code: "engine_unavailable", message: /fl-cpu has no llama\.cpp/ } },
  });
});
