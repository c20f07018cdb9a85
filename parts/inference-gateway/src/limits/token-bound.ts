/** Pure: how many tokens a call can cost at most, before an engine has seen it. */
import type { OpenAiCall } from "@resontech/contracts/openai-surface";
import { promptsOf } from "../openai-surface/prompts-of.ts";
import type { Usage } from "../openai-surface/usage.ts";

export type TokenBound = {
  /** Of what is sent: no text has more tokens than bytes. */
  prompt: number;
  /** With all that may come back. */
  total: number;
};

const NOTHING: TokenBound = { prompt: 0, total: 0 };
/** What a model puts around a text of its own. */
const AROUND = 8;
/** What a chat template, or the program before the engine, says of tools beside the tools themselves. */
const AROUND_TOOLS = 1_024;

/**
 * @param body as the engine gets it
 * @param contextTokens of one text with its answer; null where the engine counts no tokens
 */
export function tokenBound(
  call: OpenAiCall,
  body: Readonly<Record<string, unknown>>,
  contextTokens: number | null,
): TokenBound {
  if (contextTokens === null) return NOTHING;
  const within = (tokens: number) => Math.min(tokens, contextTokens);
  if (call === "embeddings") {
    const prompt = sum(listOf(body["input"]).map((text) => within(bytesOf(text) + AROUND)));
    return { prompt, total: prompt };
  }
  const answers = wholeNumber(body["n"]) ?? 1;
  const tools = listOf(body["tools"] ?? undefined);
  const chat = () => bytesOf([body["messages"], tools, body["response_format"]]) + AROUND;
  const prompts =
    call === "completions"
      ? (promptsOf(body["prompt"]) ?? []).map((text) => within(bytesOf(text) + AROUND))
      : [within(chat() + (tools.length > 0 ? AROUND_TOOLS : 0))];
  const most = wholeNumber(body["max_tokens"]) ?? contextTokens;
  return {
    prompt: sum(prompts),
    total: sum(prompts.map((prompt) => within(prompt + most) * answers)),
  };
}

/**
 * What a call has used of its bound.
 * @param usage null where nobody told: then it is taken for all of it
 */
export function tokensUsed({ prompt, total }: TokenBound, usage: Usage | null): number {
  if (usage === null) return total;
  const used = (usage.promptTokens ?? prompt) + usage.completionTokens;
  return usage.isExact ? used : Math.min(total, used);
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
}

function wholeNumber(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : null;
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
