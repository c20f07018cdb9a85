import type { AdviceReply, DeviceAdvice, ShardingEstimate } from "@resontech/contracts/http-advice";
import t from "tap";
import {
  askedFacts,
  deviceFacts,
  ESTIMATE_HEAD,
  estimateRows,
  STRATEGY_HEAD,
  strategyRows,
} from "../../src/advise/advice-text.ts";
import { asTable } from "../../src/table.ts";

const GIB = 1024 ** 3;
const estimate = (over: Partial<ShardingEstimate>): ShardingEstimate => ({
  ...{ sharding: "ddp", devices: 8, weightsBytes: 13 * GIB, gradientsBytes: 13 * GIB },
  ...{ optimizerBytes: 78 * GIB, buffersBytes: 13 * GIB, roomBytes: 71.7 * GIB },
  microBatch: { all: 0, "no-scores": 0, "layer-inputs": 0 },
  ...{ fits: "no", keeps: null, missingBytes: 48 * GIB, leastDevices: null },
  ...over,
});
const DEVICE: DeviceAdvice = {
  ...{ model: "h100", name: "NVIDIA H100", kind: "gpu", memoryMb: 81_559, isOfSite: true },
  ...{
    online: 8,
    mostOnOneNode: 8,
    row: "several-gpus",
    why: "One lacks 35.0 GiB, and 2 hold it.",
  },
  ...{ advised: { strategy: "fsdp", workers: 8 }, advisedWhy: "8 of 8 that are online." },
  estimates: [
    estimate({}),
    estimate({
      ...{ sharding: "fsdp", fits: "yes", keeps: "layer-inputs", missingBytes: 0, leastDevices: 2 },
      microBatch: { all: 0, "no-scores": 0, "layer-inputs": 24 },
    }),
    estimate({ sharding: "zero2", fits: "yes", keeps: "no-scores", missingBytes: 0 }),
    estimate({
      ...{ sharding: "zero3", fits: "states", missingBytes: 0, microBatch: null },
      buffersBytes: null,
    }),
  ],
};
const ADVICE: AdviceReply = {
  ...{ parameters: 7e9, precision: "mixed", optimizer: "adam", sequence: 4096 },
  shape: {
    ...{ layers: 32, hidden: 4096, heads: 32, vocabulary: 50_257 },
    ...{ like: "GPT-3 6.7B", isVocabularyAssumed: true },
  },
  table: [
    ...[{ row: "one-gpu", model: "fits on one GPU", from: 1, to: 8, strategy: "DDP" } as const],
    {
      ...{ row: "several-gpus", model: "larger than one GPU, fits on the cluster's" },
      ...{ from: 4, to: 64, strategy: "FSDP or DeepSpeed ZeRO-2" },
    },
  ],
  ...{ rowBySize: null, devices: [DEVICE], notes: [] },
};

t.test("what was asked is shown, with what is assumed of it", async (t) => {
  t.same(askedFacts(ADVICE), [
    ["model", "7 billion parameters, mixed precision, adam, sequences of 4096"],
    [
      "shape",
      "32 layers, width 4096, 32 heads, 50257 words (assumed); assumed, as GPT-3 6.7B has them",
    ],
  ]);
  t.match(askedFacts({ ...ADVICE, parameters: 124_439_808, shape: null, sequence: null }), [
    ["model", "124439808 parameters, mixed precision, adam, length of sequences unknown"],
    ["shape", "unknown"],
  ]);
});

t.test(
  "a device is told with its row, with what a job can ask for, and whose the estimate is",
  async (t) => {
    t.same(deviceFacts(ADVICE, DEVICE), [
      ["device", "NVIDIA H100 (h100) of 79.6 GiB: 8 online, 8 on one node"],
      [
        "table",
        "larger than one GPU, fits on the cluster's: 4 to 64 GPUs, FSDP or DeepSpeed ZeRO-2. One lacks 35.0 GiB, and 2 hold it.",
      ],
      ["here", "--gpus 8 --strategy fsdp: 8 of 8 that are online."],
      ["estimate", "ours, for 8 GPUs: 71.7 GiB of each are for the training"],
    ]);
    const none = { ...DEVICE, advised: null, row: null, advisedWhy: "18 would hold it." };
    t.match(deviceFacts(ADVICE, none), [
      ...[["device"], ["table", /^no row: One lacks/]],
      ["here", "nothing that fits: 18 would hold it."],
    ]);
  },
);

t.test("the tables fit into 80 columns, and say what is unknown", async (t) => {
  const text = asTable(ESTIMATE_HEAD, estimateRows(DEVICE), 80);
  t.matchOnly(text.split("\n").slice(1, 5), [
    /^DDP +117.0 GiB +lacks 48.0 GiB +0 +0 +0 +never$/,
    /^FSDP +117.0 GiB +if checkpointed +0 +0 +24 +2$/,
    /^ZeRO-2 +117.0 GiB +if fused +0 +0 +0 +never$/,
    /^ZeRO-3 +over 104.0 GiB +states alone +unknown +unknown +unknown +never$/,
  ]);
  for (const table of [text, asTable(STRATEGY_HEAD, strategyRows(ADVICE), 80)])
    t.ok(table.split("\n").every((line) => line.length <= 80));
});
