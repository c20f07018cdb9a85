/** Which weights a deployment gets where its folder has none of the name. */
import t from "tap";
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
