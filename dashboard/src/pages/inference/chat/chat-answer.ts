/** What comes of a streamed answer, chunk by chunk. Pure. */
import type { ToolCall } from "./chat-request.ts";

export type Answer = {
  text: string;
  /** What a model says to itself before it answers. */
  reasoning: string;
  toolCalls: readonly ToolCall[];
  /** `length`: the model had more to say; null while it speaks. */
  finish: string | null;
  tokens: { prompt: number; completion: number } | null;
};
export const NO_ANSWER: Answer = {
  ...{ text: "", reasoning: "", toolCalls: [], finish: null, tokens: null },
};

type Delta = {
  content?: string | null;
  /** llama.cpp's name, and vLLM's. */
  reasoning_content?: string | null;
  reasoning?: string | null;
  tool_calls?: { index: number; id?: string; function?: { name?: string; arguments?: string } }[];
};
export type ChatChunk = {
  choices?: { delta?: Delta; finish_reason?: string | null }[];
  usage?: { prompt_tokens: number; completion_tokens: number } | null;
  error?: { type?: string; message?: string };
};

export function withChunk(answer: Answer, { choices, usage }: ChatChunk): Answer {
  const [choice] = choices ?? [];
  const { content, tool_calls: calls, ...delta } = choice?.delta ?? {};
  return {
    text: answer.text + (content ?? ""),
    reasoning: answer.reasoning + (delta.reasoning_content ?? delta.reasoning ?? ""),
    toolCalls: (calls ?? []).reduce(withCall, answer.toolCalls),
    finish: choice?.finish_reason ?? answer.finish,
    tokens:
      usage == null
        ? answer.tokens
        : { prompt: usage.prompt_tokens, completion: usage.completion_tokens },
  };
}

/** A call comes in pieces: its name first, its arguments bit by bit. */
function withCall(
  calls: readonly ToolCall[],
  { index, id, function: piece }: NonNullable<Delta["tool_calls"]>[number],
): ToolCall[] {
  const before = calls[index] ?? { id: "", name: "", arguments: "" };
  const call = {
    id: id ?? before.id,
    name: before.name + (piece?.name ?? ""),
    arguments: before.arguments + (piece?.arguments ?? ""),
  };
  return calls.toSpliced(index, 1, call);
}

/** Takes whole events out of what has come of a stream. @returns `rest`: the beginning of the next event */
export function eventsIn(text: string): { events: string[]; rest: string } {
  const parts = text.split(/\r?\n\r?\n/);
  const rest = parts.pop() ?? "";
  const events = parts.flatMap((part) => {
    const data = part
      .split(/\r?\n/)
      .filter((line) => line.startsWith("data:"))
      .map((line) => line.slice(5).trimStart());
    return data.length === 0 ? [] : [data.join("\n")];
  });
  return { events, rest };
}
