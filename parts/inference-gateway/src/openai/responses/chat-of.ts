/** Pure: a body of `/v1/responses` as the chat that an engine is asked. Nothing is kept between calls: what came before is part of the input. */
import { type Fields, refuseOthers } from "../check-fields.ts";
import { isObject } from "../is-object.ts";
import { invalidRequest, OpenAiError } from "../openai-error.ts";

/** What has the same name and meaning in both. */
const SAME = ["model", "parallel_tool_calls", "stream", "stream_options", "temperature", "top_p"];

type Message = Record<string, unknown> & { role: unknown };

const ITEM_FIELDS: Readonly<Record<string, readonly string[]>> = {
  message: ["type", "role", "content", "id", "status", "phase"],
  function_call: ["type", "id", "call_id", "name", "arguments", "status"],
  function_call_output: ["type", "id", "call_id", "output", "status"],
  // What a model thought before is told to none.
  reasoning: ["type", "id", "summary", "content", "encrypted_content", "status"],
};
/** By the name of a part here: that of a chat. */
const PARTS: Readonly<Record<string, string>> = {
  ...{ input_text: "text", output_text: "text", text: "text", refusal: "refusal" },
  ...{ input_image: "image_url", input_audio: "input_audio" },
};
/** Of a part of text: notes about it, that no model is told. */
const NOTES = ["annotations", "logprobs", "prompt_cache_breakpoint"];
const RENAMED: readonly [RegExp, string][] = [
  [/^messages.*$/, "input"],
  [/^max_tokens$/, "max_output_tokens"],
  [/^response_format(?:\.json_schema)?/, "text.format"],
  [/^reasoning_effort$/, "reasoning.effort"],
  [/^(tools\[\d+\])\.function/, "$1"],
];

/**
 * @param known fields of the call whose values have the right types
 * @returns a body of a chat, whose fields are looked at as those of any chat
 * @throws OpenAiError with the place in the body of `/v1/responses`
 */
export function chatOf(known: Fields): Record<string, unknown> {
  const { input, instructions, text, reasoning, tools, tool_choice: choice } = known;
  const opening = instructions === undefined ? [] : [{ role: "system", content: instructions }];
  const said = {
    ...Object.fromEntries(SAME.map((name) => [name, known[name]])),
    max_tokens: known["max_output_tokens"],
    messages: [...opening, ...messagesOf(input)],
    response_format: text === undefined ? undefined : formatOf(text),
    reasoning_effort: reasoning === undefined ? undefined : effortOf(reasoning),
    tools: tools === undefined ? undefined : toolsOf(tools),
    tool_choice: choice === undefined ? undefined : choiceOf(choice),
  };
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
}

/** What was found wrong in the chat, by the place in the body that the client sent. */
export function inResponses(error: unknown): unknown {
  if (!(error instanceof OpenAiError) || error.refusal.param === undefined) return error;
  const param = RENAMED.reduce((name, [from, to]) => name.replace(from, to), error.refusal.param);
  return new OpenAiError({ ...error.refusal, param });
}

function messagesOf(input: unknown): Message[] {
  if (typeof input === "string") return [{ role: "user", content: input }];
  if (!Array.isArray(input) || input.length === 0)
    throw invalidRequest("missing_input", "input is neither a text nor a list of items", "input");
  const messages: Message[] = [];
  for (const [at, item] of input.entries()) takeItem(messages, item, `input[${at}]`);
  return messages;
}

function takeItem(messages: Message[], item: unknown, at: string): void {
  if (!isObject(item)) throw invalidRequest("invalid_type", "an item is no object", at);
  const { type = "message" } = item;
  if (type === "item_reference")
    throw invalidRequest(
      "not_kept",
      "answers are not kept here: send the items themselves; clients do so with store: false",
      at,
    );
  if (typeof type !== "string" || !Object.hasOwn(ITEM_FIELDS, type))
    throw invalidRequest(
      "unsupported_content",
      `items are ${Object.keys(ITEM_FIELDS).join(", ")}`,
      `${at}.type`,
    );
  refuseOthers(item, ITEM_FIELDS[type]!, at);
  if (type === "message")
    messages.push({ role: item["role"], content: contentOf(item["content"], `${at}.content`) });
  else if (type === "function_call") takeCall(messages, item, at);
  else if (type === "function_call_output") messages.push(outputOf(item, at));
}

/** A call belongs to what the model said right before, or to another call there. */
function takeCall(messages: Message[], item: Fields, at: string): void {
  const { call_id: id, name, arguments: given } = item;
  if (typeof id !== "string" || id === "")
    throw invalidRequest("invalid_type", "call_id is no text", `${at}.call_id`);
  const call = { id, type: "function", function: { name, arguments: given } };
  const last = messages.at(-1);
  if (last?.role === "assistant")
    last["tool_calls"] = [...((last["tool_calls"] as unknown[] | undefined) ?? []), call];
  else messages.push({ role: "assistant", content: null, tool_calls: [call] });
}

function outputOf({ call_id: id, output }: Fields, at: string): Message {
  return { role: "tool", tool_call_id: id, content: contentOf(output, `${at}.output`) };
}

function contentOf(content: unknown, at: string): unknown {
  if (!Array.isArray(content)) return content ?? null;
  return content.map((part, index) => partOf(part, `${at}[${index}]`));
}

function partOf(part: unknown, at: string): Fields {
  if (!isObject(part)) throw invalidRequest("invalid_type", "a part is no object", at);
  const { type } = part;
  const name = typeof type === "string" && Object.hasOwn(PARTS, type) ? PARTS[type]! : null;
  if (name === null)
    throw invalidRequest(
      "unsupported_content",
      `parts are ${Object.keys(PARTS).join(", ")}`,
      `${at}.type`,
    );
  if (name === "image_url") {
    refuseOthers(part, ["type", "image_url", "detail", "prompt_cache_breakpoint"], at);
    return { type: name, image_url: { url: part["image_url"], detail: part["detail"] ?? "auto" } };
  }
  if (name === "input_audio") return part;
  const value = name === "refusal" ? "refusal" : "text";
  refuseOthers(part, ["type", value, ...NOTES], at);
  return { type: name, [value]: part[value] };
}

function formatOf(text: unknown): unknown {
  if (!isObject(text)) throw invalidRequest("invalid_type", "text is no object", "text");
  refuseOthers(text, ["format", "verbosity"], "text");
  const { format = null, verbosity = null } = text;
  if (verbosity !== null && verbosity !== "medium")
    throw invalidRequest(
      "unsupported_by_model",
      "no model here knows a verbosity: send the call without it",
      "text.verbosity",
    );
  if (!isObject(format) || format["type"] !== "json_schema") return format ?? undefined;
  const { type, ...told } = format;
  return { type, json_schema: told };
}

function effortOf(reasoning: unknown): unknown {
  const at = "reasoning";
  if (!isObject(reasoning)) throw invalidRequest("invalid_type", `${at} is no object`, at);
  const { effort = null, ...rest } = reasoning;
  for (const name of ["summary", "generate_summary"])
    if ((rest[name] ?? null) !== null)
      throw invalidRequest(
        "unsupported_by_model",
        "no model here sums up what it thought: send the call without it",
        `${at}.${name}`,
      );
  refuseOthers(rest, [], at);
  return effort ?? undefined;
}

function toolsOf(tools: unknown): unknown {
  if (!Array.isArray(tools)) throw invalidRequest("invalid_type", "tools is no list", "tools");
  return tools.map((tool) => {
    if (!isObject(tool) || tool["type"] !== "function") return tool;
    const { type, ...called } = tool;
    return { type, function: called };
  });
}

function choiceOf(choice: unknown): unknown {
  if (!isObject(choice) || choice["type"] !== "function") return choice;
  const { type, ...called } = choice;
  return { type, function: called };
}
