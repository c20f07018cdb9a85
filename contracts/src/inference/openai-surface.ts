/** What of the OpenAI API a deployment answers: its calls, and their limits. openai-fields.ts has the fields of each. */

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

/** What a client may ask for. Of `responses` an engine is asked a chat. */
export const OPENAI_ASKED = [...OPENAI_CALLS, "responses"] as const;
export type OpenAiAsked = (typeof OPENAI_ASKED)[number];

export function engineCallOf(asked: OpenAiAsked): OpenAiCall {
  return asked === "responses" ? "chat/completions" : asked;
}

/**
 * A field that the gateway sets by itself, and no client: an engine that keeps the beginnings of texts keeps them apart by it, so that nobody learns from
 * the time of an answer what another project has asked.
 */
export const CACHE_SALT = "cache_salt";
