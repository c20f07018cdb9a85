/** Which weights a deployment gets where its folder has none of the name. */
import t from "tap";
import { S3ResponseError } from "../../../src/storage/s3-transport.ts";
import { findWeights, type WeightsPlace } from "../../../src/workloads/predictor/find-weights.ts";

const none = () => Promise.resolve(null);
const place = (...names: string[]): WeightsPlace => ({
  ...{ bucket: "alice-1", folder: "inference_jobs/images" },
  store: { stat: none },
  sources: {
    ofJob: () => Promise.reject(new Error("no job is named")),
    ofHub: () => {
      throw new Error("no model of the hub is named");
    },
    checkUse: () => undefined,
  },
  objects: names.map((path) => ({
    ...{ path, key: `inference_jobs/images/${path}`, versionId: "v1", etag: "e", sizeBytes: 3 },
  })),
});
const template = { engine: "predictor", modelPath: "model/classifier.pt" } as const;

t.test("a predictor of a template whose model/ is empty keeps what it was made with", async (t) => {
  t.equal(await findWeights(template, place("scripts/serve.py")), null);
  t.match(await findWeights(template, place("model/classifier.pt")), {
    path: "/app/model/classifier.pt",
  });
});

t.test("a name that is not among the files of model/ is a mistake", async (t) => {
  const missing = { code: "weights_missing" };
  await t.rejects(findWeights(template, place("model/other.pt")), missing);
  await t.rejects(findWeights({ ...template, modelPath: "classifier.pt" }, place()), missing);
  await t.rejects(findWeights({ ...template, engine: "llama.cpp" }, place()), missing);
});

t.test("a store that refuses is no store without the weights", async (t) => {
  const answering = (status: number): WeightsPlace => ({
    ...place(),
    store: { stat: () => Promise.reject(new S3ResponseError("Any", status, "an answer")) },
  });
  const named = { engine: "llama.cpp", modelPath: "/models/chat.gguf" } as const;
  for (const status of [400, 404])
    await t.rejects(findWeights(named, answering(status)), { code: "weights_missing" });
  for (const status of [403, 503])
    await t.rejects(findWeights(named, answering(status)), { status, code: "Any" });
});

t.test("vLLM reads the files of a whole model of the hub, and none of its code", async (t) => {
  const object = {
    bucket: "hub",
    versionId: "v1",
    etag: "e",
    sizeBytes: 5,
    sha256: "a".repeat(64),
  };
  const hub = (...paths: string[]): WeightsPlace => ({
    ...place(),
    sources: {
      ...place().sources,
      ofHub: (name, revision) => ({
        ...{ name, revision, commit: "c0ffee", ref: { ...object, key: "ref" } },
        files: paths.map((path) => ({ ...object, path, key: `models/${path}` })),
      }),
    },
  });
  const vllm = (modelPath: string) => ({ engine: "vllm", modelPath }) as const;
  const model = ["config.json", "tokenizer.json", "model-1.safetensors", "model-2.safetensors"];
  const found = await findWeights(
    vllm("hub:org/chat@v1"),
    hub(...model, "own.py", "pytorch_model.bin", "onnx/model.safetensors", "README.md"),
  );
  const folder = "/app/model/hub/models--org--chat/snapshots/c0ffee";
  t.match(found, { path: folder, origin: { commit: "c0ffee", sizeBytes: 20 } });
  t.same(
    found?.inputs.map(({ target }) => `/app/${target}`),
    model.map((path) => `${folder}/${path}`),
  );
  await t.rejects(findWeights(vllm("hub:org/chat@v1"), hub("config.json", "tokenizer.json")), {
    ...{ code: "weights_missing", message: /no weights as \*\.safetensors/ },
  });
  for (const path of ["hub:org/chat@v1/model-1.safetensors", "chat.gguf", "/a/b", "job:j-1"])
    await t.rejects(findWeights(vllm(path), hub(...model)), { code: "path_invalid" }, path);
});
