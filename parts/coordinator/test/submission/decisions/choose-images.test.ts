import type { JobImage } from "@resontech/contracts/coordinator-config";
import t from "tap";
import { ApiError } from "../../../src/api-error.ts";
import { chooseImages } from "../../../src/submission/decisions/choose-images.ts";
import { selectWorkers } from "../../../src/submission/decisions/worker-selection.ts";

const image = (profile: string, leastDriver?: string, architectures: string[] = []): JobImage => ({
  profile,
  reference: profile,
  sizeBytes: 1,
  packages: {},
  pythonVersion: "3.11.2",
  ...(leastDriver === undefined
    ? {}
    : { needs: { vendor: "nvidia" as const, leastDriver, architectures } }),
});
const cpu = image("fl-cpu");
const cuda13 = image("fl-cuda13", "580", ["7.5", "8.9"]);
const cuda12 = image("fl-cuda12", "525.60.13", ["6.0", "7.5"]);
const all = [cpu, cuda13, cuda12];
const gpu = (driver: string, architecture: string) =>
  ({ kind: "gpu", vendor: "nvidia", driver, architecture }) as const;
const workers = [
  { id: "a-0", node: "a", device: { kind: "cpu" as const }, model: "cpu", priceCents: 5 },
  { id: "b-0", node: "b", device: gpu("580.95.05", "8.9"), model: "rtx_4090", priceCents: 60 },
  { id: "c-0", node: "c", device: gpu("470.1", "6.1"), model: "gtx_1080_ti", priceCents: 10 },
];
const catalogue = [
  { id: "cpu", kind: "cpu" as const, memoryMb: 0, pricePerHourCents: 5 },
  { id: "rtx_4090", kind: "gpu" as const, memoryMb: 24_564, pricePerHourCents: 60 },
  { id: "h100", kind: "gpu" as const, memoryMb: 81_559, pricePerHourCents: 250 },
];
const auto = (gpuModels: string[] | null) =>
  ({ kind: "auto", gpuModels, maxPriceCents: null }) as const;
const pinned = (...workerIds: string[]) => ({ kind: "pinned", workerIds }) as const;

type Judge = (image: JobImage) => void;
const choose = (
  selection: Parameters<typeof chooseImages>[0],
  images: readonly JobImage[] = all,
  hasHub = true,
  judge: Judge = () => {},
) => {
  const chosen = chooseImages(selection, images, workers, { hasHub, judge });
  return [chosen.image.profile, ...chosen.images.map(({ profile }) => profile)];
};

t.test("a job keeps all images that its workers could run, and its hub's", async (t) => {
  t.same(choose(auto(null)), ["fl-cpu", "fl-cpu", "fl-cuda13", "fl-cuda12"]);
  t.same(choose(auto(["cpu"])), ["fl-cpu", "fl-cpu"]);
  t.same(choose(auto(["rtx_4090"])), ["fl-cpu", "fl-cpu", "fl-cuda13", "fl-cuda12"], "with a hub");
  t.same(
    choose(auto(["rtx_4090"]), all, false),
    ["fl-cuda13", "fl-cuda13", "fl-cuda12"],
    "without",
  );
  t.same(choose(pinned("a-0"), all, false), ["fl-cpu", "fl-cpu"]);
  t.same(choose(pinned("b-0"), all, false), ["fl-cuda13", "fl-cuda13"]);
});

t.test("what no image of the release runs on is refused by name", async (t) => {
  t.throws(() => choose(auto(["rtx_4090"]), [cpu]), {
    code: "image_unavailable",
    message: "this release has fl-cpu (for processors); none runs on rtx_4090",
  });
  t.throws(() => choose(auto(null), []), { code: "image_unavailable", message: /no job image/ });
  t.throws(() => choose(pinned("a-0", "c-0")), {
    code: "image_unavailable",
    message: /worker c-0 is one whose driver 470\.1 is older than 525\.60\.13/,
  });
});

t.test("an image that lacks what the files need is left out, the hub's is needed", async (t) => {
  const without =
    (...names: string[]): Judge =>
    ({ profile }) => {
      if (names.includes(profile))
        throw new ApiError("requirement_unavailable", `not in ${profile}`);
    };
  t.same(choose(auto(["rtx_4090"]), all, true, without("fl-cuda13")), [
    "fl-cpu",
    "fl-cpu",
    "fl-cuda12",
  ]);
  t.throws(() => choose(auto(["rtx_4090"]), all, true, without("fl-cpu")), {
    code: "requirement_unavailable",
    message: "not in fl-cpu",
  });
  t.throws(() => choose(auto(["rtx_4090"]), all, true, without("fl-cuda13", "fl-cuda12")), {
    message: "not in fl-cuda13",
  });
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

t.test("pinned workers of one member are as many as it takes, of one node and model", async (t) => {
  const of = (id: string, node: string, model = "h100") => ({
    ...{ id, node, model, priceCents: 1 },
  });
  const fleet = [
    of("a-0", "a"),
    of("a-1", "a"),
    of("a-2", "a", "a100"),
    of("b-0", "b"),
    of("b-1", "b"),
  ];
  const select = (workerIds: string[]) =>
    selectWorkers({ workerIds, workersPerMember: 2 }, 2, fleet, catalogue);
  const pinned = ["b-1", "b-0", "a-0", "a-1"];
  t.same(select(pinned), { kind: "pinned", workerIds: pinned });
  t.throws(() => select(["a-0", "a-1"]), {
    code: "worker_count_mismatch",
    message: "2 workers pinned for 2 shards, each of which takes 2",
  });
  t.throws(() => select(["a-0", "b-0", "a-1", "b-1"]), {
    code: "workers_apart",
    message: "a-0 and b-0 are pinned for one member, and are not of one node and model",
  });
  t.throws(() => select(["b-0", "b-1", "a-1", "a-2"]), { code: "workers_apart" });
});
