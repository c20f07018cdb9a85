/** `/api/advice`: how many devices a training takes and how its ranks share the work, by a published table, with our own estimate beside it. */
import { type Static, Type } from "typebox";
import { STRATEGIES } from "../agent/distributed-spec.ts";
import { closed } from "../closed.ts";
import { MAX_WORKERS_EACH } from "../job/most-workers.ts";
import { Nullable } from "../nullable.ts";

/** `mixed`: weights and gradients of 16 bits beside a copy of the weights of 32. */
export const PRECISIONS = ["mixed", "fp32", "bf16"] as const;
export type Precision = (typeof PRECISIONS)[number];

/** `momentum`: SGD with momentum. */
export const OPTIMIZERS = ["adam", "momentum", "sgd"] as const;
export type Optimizer = (typeof OPTIMIZERS)[number];

/** What a training's script may divide among its ranks: nothing, all of it, or what a stage of DeepSpeed's ZeRO does. */
export const SHARDINGS = ["ddp", "fsdp", "zero2", "zero3"] as const;
export type Sharding = (typeof SHARDINGS)[number];

/** Rows of the table, the smallest models first. */
export const TABLE_ROWS = ["one-gpu", "several-gpus", "very-large"] as const;
export type TableRowId = (typeof TABLE_ROWS)[number];

/** What of the activations waits for the way back: all; all but attention's scores, as a fused attention has it; with checkpointing, only what each layer began with. */
export const KEPT_ACTIVATIONS = ["all", "no-scores", "layer-inputs"] as const;
export type KeptActivations = (typeof KEPT_ACTIVATIONS)[number];

const Count = Type.Integer({ minimum: 0 });
const Bytes = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

export const AdviceQuery = Type.Object(
  {
    parameters: Type.String({
      ...{ minLength: 1, maxLength: 24 },
      description: "How many the model has: 7b, 350m, 1.3b or 7000000000",
      examples: ["7b"],
    }),
    gpuModels: Type.Optional(
      Type.String({
        ...{ minLength: 1, maxLength: 400 },
        description:
          "Catalogue ids with commas between them; absent: GPUs of this site, or its processors",
        examples: ["h100,h200"],
      }),
    ),
    gpus: Type.Optional(
      Type.Integer({
        ...{ minimum: 1, maximum: MAX_WORKERS_EACH },
        description: "Estimate for so many devices; absent: as many as one node of this site has",
      }),
    ),
    precision: Type.Enum([...PRECISIONS], { default: "mixed" }),
    optimizer: Type.Enum([...OPTIMIZERS], { default: "adam" }),
    sequence: Type.Optional(
      Type.Integer({
        ...{ minimum: 1, maximum: 10_000_000 },
        description:
          "Tokens of one sample of a decoder-only transformer; absent: activations are not estimated",
      }),
    ),
    layers: Type.Optional(
      Type.Integer({
        ...{ minimum: 1, maximum: 1_000 },
        description: "Of the model, with hidden and heads; absent: those of a published model",
      }),
    ),
    hidden: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
    heads: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
    vocabulary: Type.Optional(
      Type.Integer({
        ...{ minimum: 1, maximum: 10_000_000 },
        description: "Words of the model; absent: those of GPT-2, 50257",
      }),
    ),
  },
  closed,
);
export type AdviceQuery = Static<typeof AdviceQuery>;

export const ModelShape = Type.Object(
  {
    layers: Type.Integer({ minimum: 1 }),
    hidden: Type.Integer({ minimum: 1 }),
    heads: Type.Integer({ minimum: 1 }),
    vocabulary: Type.Integer({ minimum: 1 }),
    /** The published model of which layers, hidden and heads are taken; null: whoever asked named them. */
    like: Nullable(Type.String()),
    isVocabularyAssumed: Type.Boolean(),
  },
  closed,
);
export type ModelShape = Static<typeof ModelShape>;

/** An estimate of ours, never a measurement. */
export const ShardingEstimate = Type.Object(
  {
    sharding: Type.Enum([...SHARDINGS]),
    devices: Type.Integer({ minimum: 1 }),
    weightsBytes: Bytes,
    gradientsBytes: Bytes,
    optimizerBytes: Bytes,
    /** Buckets of gradients, and weights that are gathered for a while; null: it goes by the model's shape, which is unknown. */
    buffersBytes: Nullable(Bytes),
    /** Of one device, of what its memory leaves to a training. */
    roomBytes: Bytes,
    /** The largest batch of one device by what is kept of activations, 0 where not one sample fits; null: activations are unknown. */
    microBatch: Nullable(
      Type.Object({ all: Count, "no-scores": Count, "layer-inputs": Count }, closed),
    ),
    /** `states`: weights, gradients and states of the optimizer do; whether activations do is unknown. */
    fits: Type.Enum(["yes", "states", "no"]),
    /** The most that may be kept so that one sample fits; null: it does not, or activations are unknown. */
    keeps: Nullable(Type.Enum([...KEPT_ACTIVATIONS])),
    /** By how much one device has too little, at the least; 0 where it fits. */
    missingBytes: Bytes,
    /** The fewest devices of this memory that would do; where activations are unknown they need more. Null: no number does. */
    leastDevices: Nullable(Type.Integer({ minimum: 1 })),
  },
  closed,
);
export type ShardingEstimate = Static<typeof ShardingEstimate>;

export const DeviceAdvice = Type.Object(
  {
    /** Catalogue id. */
    model: Type.String(),
    name: Type.String(),
    kind: Type.Enum(["gpu", "cpu"]),
    /** Of one device: the smallest that is online here, else what the catalogue says. */
    memoryMb: Count,
    isOfSite: Type.Boolean(),
    /** Online now, free or not. */
    online: Count,
    mostOnOneNode: Count,
    /** Of the table; null: none fits the model. */
    row: Nullable(Type.Enum([...TABLE_ROWS])),
    why: Type.String(),
    /** What a job can ask for on this appliance now; null: nothing that would fit. */
    advised: Nullable(
      Type.Object(
        { strategy: Type.Enum([...STRATEGIES]), workers: Type.Integer({ minimum: 1 }) },
        closed,
      ),
    ),
    /** Why that, or why nothing. */
    advisedWhy: Type.String(),
    estimates: Type.Array(ShardingEstimate),
  },
  closed,
);
export type DeviceAdvice = Static<typeof DeviceAdvice>;

export const AdviceReply = Type.Object(
  {
    parameters: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    precision: Type.Enum([...PRECISIONS]),
    optimizer: Type.Enum([...OPTIMIZERS]),
    sequence: Nullable(Type.Integer({ minimum: 1 })),
    /** Null: nobody named it, and no published model has about so many parameters. */
    shape: Nullable(ModelShape),
    table: Type.Array(
      Type.Object(
        {
          row: Type.Enum([...TABLE_ROWS]),
          model: Type.String(),
          from: Type.Integer({ minimum: 1 }),
          to: Type.Integer({ minimum: 1 }),
          strategy: Type.String(),
        },
        closed,
      ),
    ),
    /** Of the table, where the size alone says it; null: it goes by the device. */
    rowBySize: Nullable(Type.Enum([...TABLE_ROWS])),
    devices: Type.Array(DeviceAdvice),
    /** What the reader has to know of all of it. */
    notes: Type.Array(Type.String()),
  },
  closed,
);
export type AdviceReply = Static<typeof AdviceReply>;
