/** Pure: a client's body as an engine may see it. */
import {
  MAX_ANSWERS,
  MAX_CHOICES,
  MAX_EMBEDDING_INPUTS,
  OPENAI_FIELDS,
  type OpenAiCall,
} from "@resontech/contracts/openai-surface";
import { checkTools } from "./check-tools.ts";
import { invalidRequest } from "./openai-error.ts";
import { promptsOf } from "./prompts-of.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true });
const MAX_DEPTH = 64;
const MAX_MODEL_CHARS = 200;
/** Of one schema, and of all tools: an engine makes a grammar of them. */
const MAX_BYTES = { response_format: 64 * 1024, tools: 256 * 1024 } as const;

export type OpenAiRequest = {
  /** As the client names it; null where it names none. */
  model: string | null;
  isStream: boolean;
  /** The client itself asks for the usage at a stream's end. */
  wantsUsage: boolean;
  /** For the engine: allowed fields alone. */
  body: Record<string, unknown>;
};

/** @throws OpenAiError with what is wrong and where */
export function readRequestBody(call: OpenAiCall, raw: Buffer): OpenAiRequest {
  const said = objectOf(raw);
  const allowed: Record<string, unknown> = {};
  for (const name of OPENAI_FIELDS[call]) if (name in said) allowed[name] = said[name];
  const model = allowed["model"] ?? null;
  if (model !== null && (typeof model !== "string" || model.length > MAX_MODEL_CHARS))
    throw invalidRequest("invalid_type", "model is no name", "model");
  const stream = allowed["stream"] ?? false;
  if (typeof stream !== "boolean")
    throw invalidRequest("invalid_type", "stream is neither true nor false", "stream");
  if (call === "chat/completions") checkMessages(allowed["messages"]);
  if (call === "embeddings") checkInput(allowed["input"]);
  for (const [name, most] of Object.entries(MAX_BYTES))
    if (name in allowed && Buffer.byteLength(JSON.stringify(allowed[name])) > most)
      throw invalidRequest("too_large", `${name} has more than ${most} bytes`, name);
  if (call === "chat/completions") checkTools(said);
  if (call !== "embeddings") checkChoices(call, allowed);
  return {
    ...{ model, isStream: stream, wantsUsage: stream && asksForUsage(allowed["stream_options"]) },
    body: forEngine(allowed, stream),
  };
}

function objectOf(raw: Buffer): Record<string, unknown> {
  let said: unknown;
  try {
    said = JSON.parse(utf8.decode(raw));
  } catch {
    throw invalidRequest("invalid_json", "the body is no JSON in UTF-8");
  }
  if (!isObject(said)) throw invalidRequest("invalid_json", "the body is no JSON object");
  if (isDeeper(said, MAX_DEPTH))
    throw invalidRequest("invalid_json", `the body nests deeper than ${MAX_DEPTH}`);
  return said;
}

/** It goes no deeper than it may, so the stack is deep enough. */
function isDeeper(value: unknown, most: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  const inside: unknown[] = Object.values(value);
  return most === 0 ? inside.length > 0 : inside.some((one) => isDeeper(one, most - 1));
}

function checkMessages(messages: unknown): void {
  if (!Array.isArray(messages) || messages.length === 0)
    throw invalidRequest("missing_messages", "messages is no list with a message", "messages");
  for (const [at, message] of messages.entries()) {
    if (!isObject(message))
      throw invalidRequest("invalid_type", "a message is no object", `messages[${at}]`);
    if (Array.isArray(message["content"]))
      for (const [part, content] of message["content"].entries())
        checkPart(content, `messages[${at}].content[${part}]`);
  }
}

/** An engine would fetch what a URL names, from where it stands. */
function checkPart(part: unknown, at: string): void {
  if (!isObject(part)) throw invalidRequest("invalid_type", "a part is no object", at);
  const { type } = part;
  if (type === "text" || type === "input_audio" || type === "refusal") return;
  if (type !== "image_url")
    throw invalidRequest("unsupported_content", "parts are text, image_url or input_audio", at);
  const image = part["image_url"];
  const url = isObject(image) ? image["url"] : image;
  if (typeof url !== "string" || !url.startsWith("data:"))
    throw invalidRequest("url_not_allowed", "an image is sent as a data: URL", `${at}.image_url`);
}

function checkInput(input: unknown): void {
  if (typeof input === "string") return;
  const isList = Array.isArray(input) && input.length > 0;
  if (isList && input.flat().every((one) => typeof one === "number"))
    throw invalidRequest(
      "tokens_not_supported",
      "input is a list of tokens, which belong to one model: send text; LangChain does so with check_embedding_ctx_length=False",
      "input",
    );
  if (!isList || !input.every((one) => typeof one === "string"))
    throw invalidRequest("invalid_type", "input is neither a text nor a list of texts", "input");
  if (input.length > MAX_EMBEDDING_INPUTS)
    throw invalidRequest("too_large", `input has more than ${MAX_EMBEDDING_INPUTS} texts`, "input");
}

/** How many answers are asked for: so many calls an engine may be asked for one. */
function checkChoices(call: OpenAiCall, { n, prompt }: Readonly<Record<string, unknown>>): void {
  const answers = n ?? 1;
  if (
    !Number.isSafeInteger(answers) ||
    (answers as number) < 1 ||
    (answers as number) > MAX_ANSWERS
  )
    throw invalidRequest("invalid_type", `n is no whole number from 1 to ${MAX_ANSWERS}`, "n");
  const prompts = call === "completions" ? promptsOf(prompt) : [null];
  if (prompts === null)
    throw invalidRequest(
      "invalid_type",
      "prompt is no text, no list of tokens, and no list of these",
      "prompt",
    );
  if (prompts.length * (answers as number) > MAX_CHOICES)
    throw invalidRequest(
      "too_large",
      `the call asks for more than ${MAX_CHOICES} answers`,
      prompts.length > 1 ? "prompt" : "n",
    );
}

/** Usage is always asked for; who did not ask for it is not shown it. */
function forEngine(allowed: Record<string, unknown>, isStream: boolean): Record<string, unknown> {
  const { stream_options: _, max_completion_tokens: newer, ...body } = allowed;
  return {
    ...body,
    ...(newer === undefined || newer === null ? {} : { max_tokens: newer }),
    ...(isStream ? { stream_options: { include_usage: true } } : {}),
  };
}

function asksForUsage(options: unknown): boolean {
  return isObject(options) && options["include_usage"] === true;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
