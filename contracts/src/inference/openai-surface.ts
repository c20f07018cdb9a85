/**
 * What of the OpenAI API a deployment answers: calls, and the fields of each body. The gateway and the program around the engine both hold to it:
 * an engine reads many more fields, and some of them reach into what is not the caller's.
 */

/** Below the appliance's own address, and below each deployment's endpoint. */
export const OPENAI_PATH = "/v1";

/** Of a client's body. */
export const MAX_OPENAI_BODY_BYTES = 4 * 1024 ** 2;
/** An embedding is asked for so many texts at once. */
export const MAX_EMBEDDING_INPUTS = 2_048;
/** Of one prompt, and of all prompts of a call: an engine may be asked for each by itself. */
export const MAX_ANSWERS = 64;
export const MAX_CHOICES = 256;
/** Without a byte of the engine. */
export const OPENAI_SILENT_MS = 600_000;

export const OPENAI_CALLS = ["chat/completions", "completions", "embeddings"] as const;
export type OpenAiCall = (typeof OPENAI_CALLS)[number];

const SAMPLING = [
  ...["model", "max_tokens", "temperature", "top_p", "top_k", "min_p", "typical_p", "seed", "stop"],
  ...["frequency_penalty", "presence_penalty", "repeat_penalty", "logit_bias", "logprobs", "n"],
  ...["stream", "stream_options", "user"],
];

/** Every other field is dropped. */
export const OPENAI_FIELDS: Readonly<Record<OpenAiCall, readonly string[]>> = {
  "chat/completions": [
    ...SAMPLING,
    ...["messages", "max_completion_tokens", "top_logprobs", "response_format", "reasoning_effort"],
    ...["tools", "tool_choice", "parallel_tool_calls"],
  ],
  completions: [...SAMPLING, "prompt", "echo", "suffix"],
  embeddings: ["model", "input", "encoding_format", "dimensions", "user"],
};

/**
 * A field that the gateway sets by itself, and no client: an engine that keeps the beginnings of texts keeps them apart by it, so that nobody learns from
 * the time of an answer what another project has asked.
 */
export const CACHE_SALT = "cache_salt";
