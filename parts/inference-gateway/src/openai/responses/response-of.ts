/** Pure: the answer of a chat as one of `/v1/responses`. */
import { randomBytes } from "node:crypto";
import type { Fields } from "../check-fields.ts";
import { isObject } from "../is-object.ts";

export type Item = Record<string, unknown> & { id: string; type: string; status: string };

/** How the answer as a whole stands. */
export type ResponseEnd = {
  status: "in_progress" | "completed" | "incomplete" | "failed";
  output: readonly Item[];
  /** Of the chat; null while nobody told. */
  usage: unknown;
  error?: { code: string; message: string };
};

/** What of a call stands in each of its answers. */
export class ResponseHead {
  readonly #fields: Readonly<Record<string, unknown>>;

  /** @param known fields of the call @param model as it was called @param now milliseconds since 1970 */
  constructor(known: Fields, model: string, now: number) {
    const said = (name: string, otherwise: unknown) => known[name] ?? otherwise;
    this.#fields = {
      ...{ id: newId("resp"), object: "response", created_at: Math.floor(now / 1_000), model },
      ...{ background: false, previous_response_id: null, store: false, metadata: {} },
      ...{ instructions: said("instructions", null), tools: said("tools", []) },
      ...{ max_output_tokens: said("max_output_tokens", null), max_tool_calls: null },
      ...{ parallel_tool_calls: said("parallel_tool_calls", true) },
      reasoning: { effort: null, summary: null, ...(known["reasoning"] as object | undefined) },
      ...{ temperature: said("temperature", null), top_p: said("top_p", null) },
      text: { format: { type: "text" }, ...(known["text"] as object | undefined) },
      ...{ tool_choice: said("tool_choice", "auto"), top_logprobs: 0, truncation: "disabled" },
      user: null,
    };
  }

  /** The whole object of an answer. */
  with({ status, output, usage, error }: ResponseEnd): Record<string, unknown> {
    return {
      ...this.#fields,
      ...{ status, error: error ?? null, output },
      incomplete_details: status === "incomplete" ? { reason: "max_output_tokens" } : null,
      usage: usageOf(usage),
    };
  }

  /** @param answer of a chat that was asked for one choice */
  whole(answer: unknown): Record<string, unknown> {
    const { choices, usage } = isObject(answer) ? answer : {};
    const [choice] = Array.isArray(choices) ? (choices as unknown[]) : [];
    const { message, finish_reason: finish } = isObject(choice) ? choice : {};
    const status = finish === "length" ? "incomplete" : "completed";
    return this.with({ status, output: itemsOf(isObject(message) ? message : {}, status), usage });
  }
}

export function messageItem(text: string | null, status: string): Item {
  const content = text === null ? [] : [textPart(text)];
  return { id: newId("msg"), type: "message", status, role: "assistant", content };
}

export function textPart(text: string): Record<string, unknown> {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

export function reasoningItem(text: string | null, status: string): Item {
  const content = text === null ? [] : [reasoningPart(text)];
  return { id: newId("rs"), type: "reasoning", status, summary: [], content };
}

export function reasoningPart(text: string): Record<string, unknown> {
  return { type: "reasoning_text", text };
}

export function callItem(
  { id, name, given }: { id: unknown; name: unknown; given: string },
  status: string,
): Item {
  return {
    ...{ id: newId("fc"), type: "function_call", status, call_id: id, name, arguments: given },
  };
}

/** What a model thought, by either name that engines have for it. */
export function reasoningOf({ reasoning_content: older, reasoning }: Fields): string {
  return textOf(reasoning) || textOf(older);
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function itemsOf(message: Fields, status: "incomplete" | "completed"): Item[] {
  const thought = reasoningOf(message);
  const content = textOf(message["content"]);
  const calls = Array.isArray(message["tool_calls"]) ? (message["tool_calls"] as unknown[]) : [];
  const items = [
    ...(thought === "" ? [] : [reasoningItem(thought, "completed")]),
    ...(content === "" && calls.length > 0 ? [] : [messageItem(content, "completed")]),
    ...calls.filter(isObject).map((call) => {
      const made = isObject(call["function"]) ? call["function"] : {};
      const { name, arguments: given } = made;
      return callItem({ id: call["id"], name, given: textOf(given) }, "completed");
    }),
  ];
  // What was cut is the last of them.
  return items.map((item, at) => (at === items.length - 1 ? { ...item, status } : item));
}

function usageOf(usage: unknown): unknown {
  if (!isObject(usage)) return null;
  const count = (value: unknown) => (typeof value === "number" ? value : 0);
  const { prompt_tokens: sent, completion_tokens: made } = usage;
  const details = (name: string) => (isObject(usage[name]) ? usage[name] : {});
  const cached = count(details("prompt_tokens_details")["cached_tokens"]);
  const thought = count(details("completion_tokens_details")["reasoning_tokens"]);
  return {
    ...{ input_tokens: count(sent), input_tokens_details: { cached_tokens: cached } },
    ...{ output_tokens: count(made), output_tokens_details: { reasoning_tokens: thought } },
    total_tokens: count(sent) + count(made),
  };
}

function newId(kind: string): string {
  return `${kind}_${randomBytes(16).toString("hex")}`;
}
