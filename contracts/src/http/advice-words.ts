/** An advice for a training in words, as shell and pages tell it. Pure. */
import type { AdviceReply, Sharding, ShardingEstimate } from "./http-advice.ts";

export const SHARDING_WORDS: Record<Sharding, string> = {
  ddp: "DDP",
  fsdp: "FSDP",
  zero2: "ZeRO-2",
  zero3: "ZeRO-3",
};

/** What the estimate is of: `7 billion parameters, mixed precision, adam, sequences of 4096`. */
export function trainingWords({ parameters, precision, optimizer, sequence }: AdviceReply): string {
  return [
    `${countWords(parameters)} parameters`,
    ...[precision === "mixed" ? "mixed precision" : precision, optimizer],
    sequence === null ? "length of sequences unknown" : `sequences of ${sequence}`,
  ].join(", ");
}

/** Whose layers and width these are. */
export function shapeWords({ shape }: Pick<AdviceReply, "shape">): string {
  if (shape === null) return "unknown";
  const { layers, hidden, heads, vocabulary, like, isVocabularyAssumed } = shape;
  const words = `${vocabulary} words${isVocabularyAssumed ? " (assumed)" : ""}`;
  return `${layers} layers, width ${hidden}, ${heads} heads, ${words}${like === null ? "" : `; assumed, as ${like} has them`}`;
}

/** Of one device, whatever the batch. @param size writes bytes */
export function fixedWords(
  {
    weightsBytes,
    gradientsBytes,
    optimizerBytes,
    buffersBytes,
  }: Pick<ShardingEstimate, "weightsBytes" | "gradientsBytes" | "optimizerBytes" | "buffersBytes">,
  size: (bytes: number) => string,
): string {
  const known = weightsBytes + gradientsBytes + optimizerBytes + (buffersBytes ?? 0);
  return `${buffersBytes === null ? "over " : ""}${size(known)}`;
}

/** @param size writes bytes */
export function verdictWords(
  { fits, keeps, missingBytes }: Pick<ShardingEstimate, "fits" | "keeps" | "missingBytes">,
  size: (bytes: number) => string,
): string {
  switch (fits) {
    case "no":
      return `lacks ${size(missingBytes)}`;
    case "states":
      return keeps === null ? "states alone" : "perhaps";
    case "yes":
      return keeps === "layer-inputs"
        ? "if checkpointed"
        : keeps === "no-scores"
          ? "if fused"
          : "yes";
  }
}

/** `1.3 billion`; a count that no such word tells exactly stays as it is. */
function countWords(count: number): string {
  for (const [unit, word] of [
    [1e12, "trillion"],
    [1e9, "billion"],
    [1e6, "million"],
  ] as const) {
    const units = count / unit;
    if (units >= 1 && Number(units.toFixed(3)) === units) return `${units} ${word}`;
  }
  return String(count);
}
