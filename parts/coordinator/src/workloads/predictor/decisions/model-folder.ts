/** Which files of a model in Hugging Face's layout an engine is given: those of its own folder that hold weights, words and numbers, and never code. Pure. */

const WEIGHTS = /\.safetensors$/;
const BESIDE = /\.(?:json|jinja|txt|model|tiktoken)$/;
const CONFIG = "config.json";
/** As the libraries of Hugging Face, of Mistral and of Qwen name it. */
const TOKENIZER = /^(?:tokenizer\.json|tokenizer\.model|tekken\.json|vocab\.json|[^/]+\.tiktoken)$/;

/** @param path below the model's folder */
export function isRead(path: string): boolean {
  return !path.includes("/") && (WEIGHTS.test(path) || BESIDE.test(path));
}

/** What a model of language can't be served without, in words; null where all is there. */
export function whatLacks(paths: readonly string[]): string | null {
  const read = paths.filter(isRead);
  if (!read.includes(CONFIG)) return CONFIG;
  if (!read.some((path) => WEIGHTS.test(path))) return "weights as *.safetensors";
  return read.some((path) => TOKENIZER.test(path)) ? null : "tokenizer.json";
}
