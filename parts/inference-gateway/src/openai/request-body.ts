/** Pure: a client's body as an engine may see it. */
import type { OpenAiEngine } from "@resontech/contracts/openai-fields";
import {
  MAX_ANSWERS,
  MAX_CHOICES,
  MAX_EMBEDDING_INPUTS,
  type OpenAiAsked,
  type OpenAiCall,
} from "@resontech/contracts/openai-surface";
import type { AnswerForm } from "./answer-form.ts";
import { fieldsForEngine, knownFields } from "./check-fields.ts";
import { checkParts, readMessages } from "./check-messages.ts";
import { checkTools } from "./check-tools.ts";
import { checkFormat, checkStop, checkStreamOptions, checkWeights } from "./check-values.ts";
import { isObject } from "./is-object.ts";
import { invalidRequest } from "./openai-error.ts";
import { promptsOf } from "../openai-surface/prompts-of.ts";
import { chatOf, inResponses } from "./responses/chat-of.ts";
import { responsesForm } from "./responses/responses-form.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true });
const MAX_DEPTH = 64;
const MAX_MODEL_CHARS = 200;
/** Of one schema, and of all tools: an engine makes a grammar of them. */
const MAX_BYTES = { response_format: 64 * 1024, tools: 256 * 1024 } as const;
const CHECKS: Readonly<Record<string, (value: unknown) => void>> = {
  ...{ response_format: checkFormat, stop: checkStop, logit_bias: checkWeights },
  stream_options: checkStreamOptions,
};

export type OpenAiRequest = {
  /** As the client names it; null where it names none. */
  model: string | null;
  isStream: boolean;
  /** The client itself asks for the usage at a stream's end. */
  wantsUsage: boolean;
  /** For the engine: allowed fields alone. */
  body: Record<string, unknown>;
  /** Of the client's answer; absent where the engine's own goes on. */
  form?: AnswerForm;
};

/** A body that is right in itself; which engine it is for is told by its model. */
export type SaidRequest = Omit<OpenAiRequest, "body" | "form"> & {
  known: Readonly<Record<string, unknown>>;
  /** The same for an engine. */
  engine: Readonly<Record<string, unknown>>;
};

/** @throws OpenAiError with what is wrong and where */
export function readRequestBody(asked: OpenAiAsked, raw: Buffer): SaidRequest {
  const known = knownFields(asked, objectOf(raw));
  const { model = null, stream = false } = known;
  if (model !== null && (typeof model !== "string" || model.length > MAX_MODEL_CHARS))
    throw invalidRequest("invalid_type", "model is no name", "model");
  const isStream = stream === true;
  return {
    ...{ model, isStream, wantsUsage: isStream && asksForUsage(known["stream_options"]), known },
    engine:
      asked === "responses"
        ? inWordsOfResponses(() => checkedChat(chatOf(known)))
        : checked(asked, known),
  };
}

/**
 * What this engine is asked.
 * @param engine null where the coordinator does not say
 * @param name of the model, for an answer that this gateway makes
 * @throws OpenAiError unsupported_by_model, with the field that the engine would leave out
 */
export function requestFor(
  asked: OpenAiAsked,
  engine: OpenAiEngine | null,
  { known, engine: said, ...request }: SaidRequest,
  name: string = request.model ?? "",
): OpenAiRequest {
  const kept = fieldsForEngine(asked, engine, known);
  if (asked !== "responses") {
    if (asked === "chat/completions") checkParts(said["messages"], engine);
    const body = asked === "chat/completions" ? { ...kept, messages: said["messages"] } : kept;
    return { ...request, body: forEngine(body, request.isStream) };
  }
  inWordsOfResponses(() => checkParts(said["messages"], engine));
  const form = responsesForm(known, name);
  // The last event tells the usage.
  return { ...request, wantsUsage: true, body: forEngine(said, request.isStream), form };
}

/** @throws OpenAiError */
function checked(
  call: OpenAiCall,
  known: Record<string, unknown>,
): Readonly<Record<string, unknown>> {
  for (const [name, most] of Object.entries(MAX_BYTES))
    if (name in known && Buffer.byteLength(JSON.stringify(known[name])) > most)
      throw invalidRequest("too_large", `${name} has more than ${most} bytes`, name);
  for (const [name, check] of Object.entries(CHECKS)) if (name in known) check(known[name]);
  if (call === "embeddings") checkInput(known["input"]);
  else checkAnswers(call, known);
  return call === "chat/completions"
    ? { ...known, messages: readMessages(known["messages"]) }
    : known;
}

/** @throws OpenAiError */
function checkedChat(chat: Record<string, unknown>): Readonly<Record<string, unknown>> {
  return checked("chat/completions", knownFields("chat/completions", chat));
}

function inWordsOfResponses<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw inResponses(error);
  }
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
  if (!isText(said))
    throw invalidRequest("invalid_json", "the body has half a character: \\ud800 to \\udfff");
  return said;
}

/** It goes no deeper than it may, so the stack is deep enough. */
function isDeeper(value: unknown, most: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  const inside: unknown[] = Object.values(value);
  return most === 0 ? inside.length > 0 : inside.some((one) => isDeeper(one, most - 1));
}

/** Half a character is none that an engine could read. Within {@link MAX_DEPTH}. */
function isText(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([name, one]) => name.isWellFormed() && isText(one));
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

/** @throws OpenAiError */
function checkAnswers(call: OpenAiCall, known: Readonly<Record<string, unknown>>): void {
  checkChoices(call, known);
  checkLimits(known);
  if (call === "chat/completions") checkTools(known);
  if (known["top_logprobs"] !== undefined && known["logprobs"] !== true && call !== "completions")
    throw invalidRequest(
      "invalid_value",
      "top_logprobs is told with logprobs: true alone",
      "top_logprobs",
    );
}

/** How many tokens an answer may have. */
function checkLimits({
  max_tokens: most,
  max_completion_tokens: newer,
  echo,
}: Readonly<Record<string, unknown>>): void {
  if (most !== undefined && newer !== undefined && most !== newer)
    throw invalidRequest(
      "invalid_value",
      "max_tokens and max_completion_tokens say two things: send one",
      "max_tokens",
    );
  if (most === 0 && echo !== true)
    throw invalidRequest("invalid_value", "max_tokens is at least 1", "max_tokens");
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
    ...(newer === undefined ? {} : { max_tokens: newer }),
    ...(isStream ? { stream_options: { include_usage: true } } : {}),
  };
}

function asksForUsage(options: unknown): boolean {
  return isObject(options) && options["include_usage"] === true;
}
