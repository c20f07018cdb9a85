/**
 * Each field of the OpenAI API's bodies, and what each engine does with it. The gateway refuses what the table does not have, and what the engine of a
 * call does not do: nothing that changes an answer is left out in silence. docs/researcher/openai-fields.md is written from it.
 */
import { MAX_ANSWERS, type OpenAiAsked, type OpenAiCall } from "./openai-surface.ts";

export const OPENAI_ENGINES = ["llama.cpp", "vllm", "embeddings"] as const;
export type OpenAiEngine = (typeof OPENAI_ENGINES)[number];

/** Which calls an engine answers; of llama.cpp a deployment does one kind, and its engine refuses the other. */
export const ENGINES_OF: Readonly<Record<OpenAiAsked, readonly OpenAiEngine[]>> = {
  "chat/completions": ["llama.cpp", "vllm"],
  completions: ["llama.cpp", "vllm"],
  embeddings: ["llama.cpp", "embeddings"],
  responses: ["llama.cpp", "vllm"],
};

/**
 * done: the answer is as the field asks.
 * by model: done where the deployment's model can; else the program around the engine refuses it.
 * refused: 400 `unsupported_by_model`, unless the value is one of `neutral`.
 */
export type FieldUse = "done" | "by model" | "refused";

/** What values a field may have. `own`: a file of the gateway's own looks closer. Null is as good as absent, for every field. */
export type FieldShape =
  | { kind: "integer" | "number"; least: number; most: number }
  | { kind: "boolean" }
  | { kind: "text" }
  | { kind: "word"; words: readonly string[] }
  | { kind: "own" };

export type OpenAiField = {
  shape: FieldShape;
  uses: Readonly<Partial<Record<OpenAiEngine, FieldUse>>>;
  /** Values that ask for what happens anyway. */
  neutral?: readonly unknown[];
  /** Another field, whose value asks for what happens anyway; it is 1 where it is not said. */
  neutralAs?: string;
};

const MOST_INTEGER = 2 ** 31 - 1;
/** The last number of 32 bits stands for a seed by chance in llama.cpp. */
const MOST_SEED = 2 ** 32 - 2;
/** As many probabilities a token as vLLM tells. */
const MOST_PROBABILITIES = 20;

const OWN: FieldShape = { kind: "own" };
const BOOLEAN: FieldShape = { kind: "boolean" };
const integer = (least: number, most: number = MOST_INTEGER): FieldShape => ({
  ...{ kind: "integer", least, most },
});
const number = (least: number, most: number): FieldShape => ({ kind: "number", least, most });

const EVERYWHERE = { "llama.cpp": "done", vllm: "done" } as const;
const NOWHERE = { "llama.cpp": "refused", vllm: "refused" } as const;
const both = (shape: FieldShape): OpenAiField => ({ shape, uses: EVERYWHERE });
const neither = (...neutral: unknown[]): OpenAiField => ({ shape: OWN, uses: NOWHERE, neutral });

const GENERATING: Readonly<Record<string, OpenAiField>> = {
  model: both(OWN),
  frequency_penalty: both(number(-2, 2)),
  logit_bias: both(OWN),
  n: both(OWN),
  presence_penalty: both(number(-2, 2)),
  seed: both(integer(0, MOST_SEED)),
  stop: both(OWN),
  stream: both(BOOLEAN),
  stream_options: both(OWN),
  temperature: both(number(0, 2)),
  top_p: both(number(0, 1)),
  // The engines' own.
  min_p: both(number(0, 1)),
  repeat_penalty: both(number(0.01, 10)),
  top_k: both(integer(-1)),
  typical_p: {
    shape: number(0, 1),
    uses: { "llama.cpp": "done", vllm: "refused" },
    neutral: [1],
  },
};

export const OPENAI_FIELDS: Readonly<Record<OpenAiAsked, Readonly<Record<string, OpenAiField>>>> = {
  "chat/completions": {
    messages: both(OWN),
    ...GENERATING,
    audio: neither(),
    function_call: neither(),
    functions: neither(),
    logprobs: both(BOOLEAN),
    max_completion_tokens: both(integer(1)),
    max_tokens: both(integer(1)),
    modalities: neither(["text"]),
    moderation: neither(),
    parallel_tool_calls: both(BOOLEAN),
    reasoning_effort: {
      shape: {
        kind: "word",
        words: ["none", "minimal", "low", "medium", "high", "xhigh", "max"],
      },
      uses: { "llama.cpp": "by model", vllm: "by model" },
    },
    response_format: both(OWN),
    tool_choice: { shape: OWN, uses: { "llama.cpp": "by model", vllm: "by model" } },
    tools: { shape: OWN, uses: { "llama.cpp": "by model", vllm: "by model" } },
    top_logprobs: both(integer(0, MOST_PROBABILITIES)),
    verbosity: neither("medium"),
    web_search_options: neither(),
  },
  completions: {
    prompt: both(OWN),
    ...GENERATING,
    // With `n` answers the best of as many are all of them.
    best_of: { shape: integer(1, MAX_ANSWERS), uses: NOWHERE, neutralAs: "n" },
    echo: { shape: BOOLEAN, uses: { "llama.cpp": "refused", vllm: "done" }, neutral: [false] },
    logprobs: both(integer(0, MOST_PROBABILITIES)),
    // None at all is for who has the prompt said again.
    max_tokens: both(integer(0)),
    suffix: {
      shape: { kind: "text" },
      uses: { "llama.cpp": "refused", vllm: "by model" },
      neutral: [""],
    },
  },
  embeddings: {
    input: { shape: OWN, uses: { "llama.cpp": "done", embeddings: "done" } },
    model: { shape: OWN, uses: { "llama.cpp": "done", embeddings: "done" } },
    dimensions: {
      shape: integer(1),
      uses: { "llama.cpp": "refused", embeddings: "by model" },
    },
    encoding_format: {
      shape: { kind: "word", words: ["float", "base64"] },
      uses: { "llama.cpp": "done", embeddings: "done" },
    },
  },
  responses: {
    input: both(OWN),
    model: both(OWN),
    access_programs: neither(),
    background: neither(false),
    context_management: neither(),
    conversation: neither(),
    image: neither(),
    // What a model thinks is none of it encrypted: there is nothing to include.
    include: neither([], ["reasoning.encrypted_content"]),
    instructions: both({ kind: "text" }),
    max_output_tokens: both(integer(1)),
    moderation: neither(),
    parallel_tool_calls: both(BOOLEAN),
    previous_response_id: neither(),
    prompt: neither(),
    reasoning: { shape: OWN, uses: { "llama.cpp": "by model", vllm: "by model" } },
    stream: both(BOOLEAN),
    stream_options: both(OWN),
    temperature: both(number(0, 2)),
    text: both(OWN),
    tool_choice: { shape: OWN, uses: { "llama.cpp": "by model", vllm: "by model" } },
    tools: { shape: OWN, uses: { "llama.cpp": "by model", vllm: "by model" } },
    top_logprobs: neither(0),
    top_p: both(number(0, 1)),
    truncation: neither("disabled"),
  },
};

/** What a call may say without any change to its answer: notes for OpenAI's own books, caches and service. */
export const PASSED_OVER: Readonly<Record<OpenAiAsked, readonly string[]>> = {
  "chat/completions": [
    ...["metadata", "prediction", "prompt_cache_key", "prompt_cache_options"],
    ...["prompt_cache_retention", "safety_identifier", "service_tier", "store", "user"],
  ],
  completions: ["user"],
  embeddings: ["user"],
  // `max_tool_calls` counts tools of OpenAI's own.
  responses: [
    ...["max_tool_calls", "metadata", "prompt_cache_key", "prompt_cache_options"],
    ...["prompt_cache_retention", "safety_identifier", "service_tier", "store", "user"],
  ],
};

/** Parts of a message beside text. */
export const OPENAI_PARTS: Readonly<Record<"image_url" | "input_audio", OpenAiField["uses"]>> = {
  image_url: { "llama.cpp": "refused", vllm: "by model" },
  input_audio: { "llama.cpp": "refused", vllm: "by model" },
};

/**
 * What an engine does with a field or a part.
 * @param engine null where the coordinator does not say: done is then what any of the call's engines may do
 */
export function useOf(
  uses: OpenAiField["uses"],
  call: OpenAiAsked,
  engine: OpenAiEngine | null,
): FieldUse {
  if (engine !== null) return uses[engine] ?? "refused";
  const said = ENGINES_OF[call].map((one) => uses[one] ?? "refused");
  return said.find((use) => use !== "refused") ?? "refused";
}

/** Names of the fields that reach an engine. */
export function fieldsOf(call: OpenAiCall, engine: OpenAiEngine): string[] {
  return Object.entries(OPENAI_FIELDS[call])
    .filter(([, { uses }]) => useOf(uses, call, engine) !== "refused")
    .map(([name]) => name);
}
