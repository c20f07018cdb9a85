/** Pure: the prompts of a completion, each of which is answered by itself. A list of tokens is one prompt. */

/** Splits a body's prompt into single ones; null for what is no prompt. @param prompt as the body has it */
export function promptsOf(prompt: unknown): readonly unknown[] | null {
  if (typeof prompt === "string" || isTokens(prompt)) return [prompt];
  const isList =
    Array.isArray(prompt) &&
    prompt.length > 0 &&
    prompt.every((one) => typeof one === "string" || isTokens(one));
  return isList ? (prompt as unknown[]) : null;
}

function isTokens(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(Number.isSafeInteger);
}
