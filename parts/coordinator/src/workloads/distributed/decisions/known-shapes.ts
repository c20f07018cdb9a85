/** Layers, width and heads of published transformers, for a model of which only the number of parameters is known. Pure. */
import type { ModelShape } from "@resontech/contracts/http-advice";

type Known = { like: string; parameters: number; layers: number; hidden: number; heads: number };

/** Brown et al. 2020, "Language Models are Few-Shot Learners", table 2.1; the width of its 13B is given as 5140, and 40 heads of 128 make 5120. */
const GPT_3: readonly (readonly [string, number, number, number, number])[] = [
  ["GPT-3 125M", 125e6, 12, 768, 12],
  ["GPT-3 350M", 350e6, 24, 1024, 16],
  ["GPT-3 760M", 760e6, 24, 1536, 16],
  ["GPT-3 1.3B", 1.3e9, 24, 2048, 24],
  ["GPT-3 2.7B", 2.7e9, 32, 2560, 32],
  ["GPT-3 6.7B", 6.7e9, 32, 4096, 32],
  ["GPT-3 13B", 13e9, 40, 5120, 40],
  ["GPT-3 175B", 175e9, 96, 12_288, 96],
];
/** Narayanan et al. 2021, "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM", table 1. */
const MEGATRON: typeof GPT_3 = [
  ["Megatron 18.4B", 18.4e9, 40, 6144, 48],
  ["Megatron 39.1B", 39.1e9, 48, 8192, 64],
  ["Megatron 76.1B", 76.1e9, 60, 10_240, 80],
  ["Megatron 310.1B", 310.1e9, 96, 16_384, 128],
  ["Megatron 529.6B", 529.6e9, 105, 20_480, 128],
  ["Megatron 1008B", 1008e9, 128, 25_600, 160],
];
const KNOWN: readonly Known[] = [...GPT_3, ...MEGATRON].map(
  ([like, parameters, layers, hidden, heads]) => ({ like, parameters, layers, hidden, heads }),
);

/** A model of more than so many times the parameters, or of fewer, is none like it. */
const FARTHEST = 2;
/** Words of GPT-2 and GPT-3. */
const ASSUMED_VOCABULARY = 50_257;

type Named = {
  layers?: number | undefined;
  hidden?: number | undefined;
  heads?: number | undefined;
  vocabulary?: number | undefined;
};

/** @param named all of layers, hidden and heads, or none. @returns null where nothing is named and nothing published is alike */
export function modelShapeOf(parameters: number, named: Named): ModelShape | null {
  const { layers, hidden, heads, vocabulary = ASSUMED_VOCABULARY } = named;
  const words = { vocabulary, isVocabularyAssumed: named.vocabulary === undefined };
  if (layers !== undefined && hidden !== undefined && heads !== undefined)
    return { layers, hidden, heads, ...words, like: null };
  const distance = (one: Known): number => Math.abs(Math.log(one.parameters / parameters));
  const nearest = KNOWN.reduce((best, one) => (distance(one) < distance(best) ? one : best));
  if (distance(nearest) > Math.log(FARTHEST)) return null;
  const { parameters: _, ...shape } = nearest;
  return { ...shape, ...words };
}
