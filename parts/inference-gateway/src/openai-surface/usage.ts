/** Pure: how many tokens a call was. */

export type Usage = {
  /** Null where the call ended before the engine told. */
  promptTokens: number | null;
  completionTokens: number;
  /** The engine's own word; else what was seen of a stream that ended early: a lower bound. */
  isExact: boolean;
};

/** The field `usage` of an answer or of a stream's chunk; null for what is none. */
export function usageOf(value: unknown): Usage | null {
  if (typeof value !== "object" || value === null) return null;
  const { prompt_tokens: prompt, completion_tokens: completion = 0 } = value as Record<
    string,
    unknown
  >;
  return isCount(prompt) && isCount(completion)
    ? { promptTokens: prompt, completionTokens: completion, isExact: true }
    : null;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
