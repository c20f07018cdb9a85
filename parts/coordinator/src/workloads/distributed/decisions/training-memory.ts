/**
 * Memory that one device needs for a training, by published formulas. An estimate: fragments of the allocator, kernels' workspaces and a script's own
 * tensors are not counted, only a part of the device is left for them. Pure.
 *
 * - Rajbhandari et al. 2020, "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models", section 3.1 and 5: 2 + 2 + 12 bytes a parameter for
 *   Adam in mixed precision, and which of them each stage divides among devices.
 * - Korthikanti et al. 2022, "Reducing Activation Recomputation in Large Transformer Models", section 4 and 5: s·b·h·(34 + 5·a·s/h) bytes a layer for
 *   activations of 16 bits; 34·s·b·h without attention's scores; 2·s·b·h where each layer is computed again. That layer is counted without scores: a
 *   fused attention, such as torch's `scaled_dot_product_attention`, never holds them.
 */
import {
  KEPT_ACTIVATIONS,
  type KeptActivations,
  type ModelShape,
  type Optimizer,
  type Precision,
  type Sharding,
  type ShardingEstimate,
} from "@resontech/contracts/http-advice";

/** @property shape null: unknown @property sequence null: activations are not estimated */
export type Training = {
  parameters: number;
  precision: Precision;
  optimizer: Optimizer;
  shape: ModelShape | null;
  sequence: number | null;
};

type ParameterBytes = { weights: number; gradients: number; optimizer: number };
type States = { weights: number; gradients: number; optimizer: number; buffers: number | null };

/** Ours, and no published figure: CUDA's context, NCCL's buffers and fragments take a part of every device. */
export const FREE_SHARE = 0.9;

/** Values that an optimizer keeps of each parameter. */
const KEPT = { adam: 2, momentum: 1, sgd: 0 } as const;

/** `reduce_bucket_size` and `allgather_bucket_size` of DeepSpeed, as it sets them itself: parameters, not bytes. */
const ZERO_BUCKET = 5e8;
/** `stage3_max_live_parameters` of DeepSpeed, as it sets it itself. */
const ZERO_LIVE = 1e9;
/** The layer that FSDP computes, and the one that it fetches meanwhile. */
const FSDP_LAYERS = 2;

/** Bytes of each parameter. In mixed precision the optimizer keeps the weights themselves as well, in 32 bits. */
export function bytesOfParameter(precision: Precision, optimizer: Optimizer): ParameterBytes {
  if (precision === "mixed")
    return { weights: 2, gradients: 2, optimizer: 4 + 4 * KEPT[optimizer] };
  const each = precision === "fp32" ? 4 : 2;
  return { weights: each, gradients: each, optimizer: each * KEPT[optimizer] };
}

/** Of one of `devices`. @returns `buffers` null where they go by layers, and nobody knows how many there are */
export function shardedStates(
  { parameters, precision, optimizer, shape }: Omit<Training, "sequence">,
  sharding: Sharding,
  devices: number,
): States {
  const bytes = bytesOfParameter(precision, optimizer);
  const whole = {
    weights: bytes.weights * parameters,
    gradients: bytes.gradients * parameters,
    optimizer: bytes.optimizer * parameters,
  };
  // With nobody to share with there is nothing to send, and nothing to gather.
  if (devices === 1) return { ...whole, buffers: 0 };
  switch (sharding) {
    case "ddp":
      // Buckets as large as the gradients, but for `gradient_as_bucket_view`, which is off unless a script sets it.
      return { ...whole, buffers: whole.gradients };
    case "zero2":
      return {
        weights: whole.weights,
        gradients: whole.gradients / devices,
        optimizer: whole.optimizer / devices,
        buffers: 2 * Math.min(parameters, ZERO_BUCKET) * bytes.gradients,
      };
    case "zero3":
      return {
        ...divided(whole, devices),
        buffers:
          Math.min(parameters, ZERO_LIVE) * bytes.weights +
          Math.min(parameters, ZERO_BUCKET) * bytes.gradients,
      };
    case "fsdp":
      return {
        ...divided(whole, devices),
        buffers:
          shape === null
            ? null
            : (parameters / shape.layers) *
              (Math.min(FSDP_LAYERS, shape.layers) * bytes.weights + bytes.gradients),
      };
  }
}

/** Bytes of activations of one sample on one device; null where the shape or the sequence is unknown. */
export function activationsOf({
  precision,
  shape,
  sequence,
}: Pick<Training, "precision" | "shape" | "sequence">): Record<KeptActivations, number> | null {
  if (shape === null || sequence === null) return null;
  const { layers, hidden, heads, vocabulary } = shape;
  // Of the 34 bytes two are masks of dropout, of one byte in every precision; of attention's five one is.
  const [perValue, perScore, value] = precision === "fp32" ? [66, 9, 4] : [34, 5, 2];
  const plain = perValue * sequence * hidden;
  const scores = perScore * heads * sequence ** 2;
  // The last norm and the input of the output layer, then the loss in 32 bits.
  const head = 2 * value * sequence * hidden + 4 * sequence * vocabulary;
  return {
    all: layers * (plain + scores) + head,
    "no-scores": layers * plain + head,
    // The input of each layer, and the one layer that is computed again.
    "layer-inputs": layers * value * sequence * hidden + plain + head,
  };
}

/** @param memoryBytes of one device */
export function estimateSharding(
  training: Training,
  sharding: Sharding,
  devices: number,
  memoryBytes: number,
): ShardingEstimate {
  const states = shardedStates(training, sharding, devices);
  const activations = activationsOf(training);
  const room = Math.floor(memoryBytes * FREE_SHARE);
  const left = room - sumOf(states);
  const batchOf = (kept: KeptActivations): number =>
    activations === null ? 0 : Math.max(0, Math.floor(left / activations[kept]));
  const keeps = KEPT_ACTIVATIONS.find((kept) => batchOf(kept) > 0) ?? null;
  const missing = Math.max(0, Math.ceil(leastActivations(activations) - left));
  return {
    ...{ sharding, devices },
    weightsBytes: Math.ceil(states.weights),
    gradientsBytes: Math.ceil(states.gradients),
    optimizerBytes: Math.ceil(states.optimizer),
    buffersBytes: states.buffers === null ? null : Math.ceil(states.buffers),
    roomBytes: room,
    microBatch:
      activations === null
        ? null
        : {
            all: batchOf("all"),
            "no-scores": batchOf("no-scores"),
            "layer-inputs": batchOf("layer-inputs"),
          },
    fits: missing > 0 ? "no" : activations === null || states.buffers === null ? "states" : "yes",
    ...{ keeps, missingBytes: missing },
    leastDevices: leastDevices(training, sharding, room),
  };
}

/** The fewest that hold the states and one sample. @returns null where no number does, for some of it lies on each whole */
function leastDevices(training: Training, sharding: Sharding, room: number): number | null {
  const least = leastActivations(activationsOf(training));
  const doesFit = (devices: number): boolean =>
    sumOf(shardedStates(training, sharding, devices)) + least <= room;
  if (doesFit(1)) return 1;
  const [two, four] = [2, 4].map((devices) => sumOf(shardedStates(training, sharding, devices)));
  // What is divided halves from two devices to four; the rest stays.
  const shared = (two! - four!) * 4;
  const whole = two! - shared / 2;
  const left = room - whole - least;
  if (shared <= 0 || left <= 0) return doesFit(2) ? 2 : null;
  const found = Math.max(2, Math.ceil(shared / left));
  // Rounding of large numbers may be wrong by one.
  if (found > 2 && doesFit(found - 1)) return found - 1;
  return doesFit(found) ? found : found + 1;
}

/** Of one sample, kept as sparingly as can be: of one layer alone nothing is gained by computing it again. */
function leastActivations(activations: Record<KeptActivations, number> | null): number {
  return activations === null ? 0 : Math.min(...Object.values(activations));
}

function sumOf({ weights, gradients, optimizer, buffers }: States): number {
  return weights + gradients + optimizer + (buffers ?? 0);
}

function divided({ weights, gradients, optimizer }: ParameterBytes, by: number): ParameterBytes {
  return { weights: weights / by, gradients: gradients / by, optimizer: optimizer / by };
}
