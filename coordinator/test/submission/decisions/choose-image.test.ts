import type { JobImage } from "@resontech/contracts/coordinator-config";
import t from "tap";
import { chooseImage } from "../../../src/submission/decisions/choose-image.ts";
import { selectWorkers } from "../../../src/submission/decisions/worker-selection.ts";

const image = (profile: string): JobImage => ({
  profile,
  reference: profile,
  sizeBytes: 1,
  packages: {},
  pythonVersion: "3.11.2",
});
const both = [image("fl-cpu"), image("fl-cuda")];
const workers = [
  { id: "a-0", kind: "cpu" as const, model: "cpu", priceCents: 5 },
  { id: "b-0", kind: "gpu" as const, model: "rtx_4090", priceCents: 60 },
];
const catalogue = [
  { id: "cpu", kind: "cpu" as const, memoryMb: 0, pricePerHourCents: 5 },
  { id: "rtx_4090", kind: "gpu" as const, memoryMb: 24_564, pricePerHourCents: 60 },
  { id: "h100", kind: "gpu" as const, memoryMb: 81_559, pricePerHourCents: 250 },
];
const auto = (gpuModels: string[] | null) =>
  ({ kind: "auto", gpuModels, maxPriceCents: null }) as const;

t.test("the CPU image runs only where nothing but CPU slots can come", async (t) => {
  t.equal(chooseImage(auto(["cpu"]), both, workers)?.profile, "fl-cpu");
  t.equal(chooseImage(auto(["rtx_4090", "cpu"]), both, workers)?.profile, "fl-cuda");
  t.equal(chooseImage(auto(null), both, workers)?.profile, "fl-cuda");
  t.equal(chooseImage(auto(null), both, [workers[0]!])?.profile, "fl-cpu");
  t.equal(chooseImage({ kind: "pinned", workerIds: ["a-0"] }, both, workers)?.profile, "fl-cpu");
  t.equal(
    chooseImage({ kind: "pinned", workerIds: ["a-0", "b-0"] }, both, workers)?.profile,
    "fl-cuda",
  );
  t.equal(
    chooseImage(auto(["rtx_4090"]), [image("fl-cpu")], workers)?.profile,
    "fl-cpu",
    "the only image there is",
  );
  t.equal(chooseImage(auto(null), [], workers), null);
});

t.test("bodies of both client versions select as they say", async (t) => {
  const select = (body: Parameters<typeof selectWorkers>[0], shards = 2) =>
    selectWorkers(body, shards, workers, catalogue);
  t.same(
    select({
      autoSelectWorkers: true,
      gpuModels: ["h100", "rtx_4090"],
      maxPricePerGpuHourCents: 100,
    }),
    {
      ...{ kind: "auto", gpuModels: ["rtx_4090"], maxPriceCents: 100 },
    },
  );
  t.same(select({ autoSelectWorkers: true, gpuModels: ["rtx_4090", "cpu", "rtx_4090"] }), {
    kind: "auto",
    gpuModels: ["rtx_4090", "cpu"],
    maxPriceCents: null,
  });
  t.same(select({ autoSelectWorkers: true }), auto(null), "0.2.1");
  t.same(select({}), auto(null), "0.2.1 without a selection");
  t.same(
    select({ workerIds: ["a-0", "b-0"], autoSelectWorkers: true, gpuModels: ["nothing"] }),
    { kind: "pinned", workerIds: ["a-0", "b-0"] },
    "pinned ids win",
  );
  t.same(select({ workerIds: [], gpuModels: ["cpu"] }), auto(["cpu"]));
});
