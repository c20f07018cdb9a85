/** What of a folder becomes a deployment. */
import t from "tap";
import {
  bodyOfPredictor,
  folderOfPredictor,
  isDeployable,
  isOfPredictor,
} from "../src/infer/ready-predictor.ts";

t.test("of a folder its parts are sent, and nothing that lies beside them", async (t) => {
  for (const path of [
    "inference.yaml",
    "scripts/echo.py",
    "scripts/predictors/__init__.py",
    "model/weights.pt",
    "sample_data/one.png",
  ])
    t.equal(isOfPredictor(path), true, path);
  for (const path of [
    "echo.key",
    ".env",
    "README.md",
    "scripts",
    ".git/config",
    "scripts/__pycache__/echo.cpython-311.pyc",
    "other/inference.yaml",
  ])
    t.equal(isOfPredictor(path), false, path);
});

t.test("a folder needs inference.yaml, and nothing beside it", async (t) => {
  t.ok(isDeployable(["inference.yaml", "scripts/echo.py"]));
  t.ok(isDeployable(["inference.yaml"]), "its model may lie in the hub");
  t.notOk(isDeployable(["model/weights.pt", "other/inference.yaml"]));
});

t.test("the body names the folder that the files went to", async (t) => {
  t.equal(folderOfPredictor("My Echo", null), "inference_jobs/my-echo");
  t.equal(folderOfPredictor("My Echo", "7f3a"), "inference_jobs/my-echo-7f3a");
  t.same(bodyOfPredictor("My Echo", "inference_jobs/my-echo", {}), {
    ...{ name: "My Echo", jobPath: "/inference_jobs/my-echo", visibility: "PRIVATE" },
    autoSelectWorkers: true,
  });
  t.match(bodyOfPredictor("e", "inference_jobs/e", { callbackUrl: "https://hooks.example/a" }), {
    callbackUrl: "https://hooks.example/a",
  });
  t.match(
    bodyOfPredictor("e", "inference_jobs/e", { gpuModels: ["cpu"], maxPriceCents: 9, memoryMb: 7 }),
    {
      ...{ gpuModels: ["cpu"], maxPricePerGpuHourCents: 9, estimatedMemoryMb: 7 },
    },
  );
});
