/** An advice for a training as facts and tables of a terminal. Pure. */
import {
  trainingWords,
  fixedWords,
  SHARDING_WORDS,
  shapeWords,
  verdictWords,
} from "@resontech/contracts/advice-words";
import type { AdviceReply, DeviceAdvice } from "@resontech/contracts/http-advice";
import { size } from "../size.ts";

const MIB = 1024 ** 2;

export const STRATEGY_HEAD = ["MODEL", "GPUS", "STRATEGY"];
/** Of one device: what it needs whatever the batch, whether one sample fits, and the largest batch by how activations are kept. */
export const ESTIMATE_HEAD = [
  ...["ESTIMATE", "FIXED", "FITS", "PLAIN", "FUSED", "CHECKPOINTED", "LEAST"],
];

export function strategyRows({ table }: AdviceReply): string[][] {
  return table.map(({ model, from, to, strategy }) => [model, `${from} to ${to}`, strategy]);
}

/** Each with its name. */
export function askedFacts(advice: AdviceReply): [string, string][] {
  const { rowBySize } = advice;
  return [
    ["model", trainingWords(advice)],
    ["shape", shapeWords(advice)],
    ...(rowBySize === null ? [] : [["table", rowWords(advice, rowBySize)] as [string, string]]),
  ];
}

export function deviceFacts(advice: AdviceReply, device: DeviceAdvice): [string, string][] {
  const { model, name, kind, memoryMb, online, mostOnOneNode, row, why } = device;
  const { advised, advisedWhy, estimates } = device;
  const memory = memoryMb === 0 ? "of unknown memory" : `of ${size(memoryMb * MIB)}`;
  const [estimate] = estimates;
  return [
    ["device", `${name} (${model}) ${memory}: ${online} online, ${mostOnOneNode} on one node`],
    ["table", row === null ? `no row: ${why}` : `${rowWords(advice, row)}. ${why}`],
    [
      "here",
      advised === null
        ? `nothing that fits: ${advisedWhy}`
        : `--gpus ${advised.workers} --strategy ${advised.strategy}: ${advisedWhy}`,
    ],
    ...(estimate === undefined
      ? []
      : [
          [
            "estimate",
            `ours, for ${estimate.devices} ${kind === "gpu" ? "GPUs" : "slots"}: ${size(estimate.roomBytes)} of each are for the training`,
          ] as [string, string],
        ]),
  ];
}

export function estimateRows({ estimates }: DeviceAdvice): string[][] {
  return estimates.map((estimate) => {
    const { sharding, microBatch, leastDevices } = estimate;
    const batch = (kept: keyof NonNullable<typeof microBatch>): string =>
      microBatch === null ? "unknown" : String(microBatch[kept]);
    return [
      ...[SHARDING_WORDS[sharding], fixedWords(estimate, size), verdictWords(estimate, size)],
      ...[batch("all"), batch("no-scores"), batch("layer-inputs")],
      leastDevices === null ? "never" : String(leastDevices),
    ];
  });
}

function rowWords({ table }: AdviceReply, row: DeviceAdvice["row"]): string {
  const found = table.find((one) => one.row === row);
  return found === undefined
    ? "no row"
    : `${found.model}: ${found.from} to ${found.to} GPUs, ${found.strategy}`;
}
