/** Between the coordinator and the program that embeds texts (parts/agent/runners/resontech_embeddings): `/rt/job/embeddings.json`, written by the agent. */

/** Payload of `/rt/init`; the interpreter is the image's. */
export const EMBEDDINGS_COMMAND = ["python3", "-u", "/rt/runner/embeddings.py"] as const;
export const EMBEDDINGS_SPEC = "embeddings.json";
/** What an image must hold to run it: distributions of PyPI, normalized. */
export const EMBEDDINGS_PACKAGES = ["numpy", "tokenizers"] as const;
/** Of a model in Hugging Face's layout what is read. */
export const EMBEDDINGS_FILES = {
  needed: ["config.json", "model.safetensors", "tokenizer.json"],
  /** Without them: mean of all tokens, not normed, as many tokens as the model has places. */
  optional: ["modules.json", "sentence_bert_config.json", "1_Pooling/config.json"],
} as const;

export type EmbeddingsSpec = {
  formatVersion: 1;
  /** What answers call the model. */
  name: string;
  /** Of the model, in the container. */
  folder: string;
  /** What `X-Replica-Id` says. */
  replica: string;
  /** In the replica's container, which has a network of its own. */
  port: number;
  maxOngoingRequests: number;
  /** Texts of one call. */
  maxInputs: number;
  /** Of a body, as the gateway sends it. */
  maxBodyBytes: number;
  /** One that runs for longer ends its replica: it can't be interrupted. */
  callLimitMs: number;
};
