/** Between the coordinator and the program around llama.cpp (parts/agent/runners/resontech_llama): `/rt/job/llama.json`, written by the agent. */

/** Payload of `/rt/init`; the interpreter is the image's. */
export const LLAMA_COMMAND = ["python3", "-u", "/rt/runner/llama.py"] as const;
export const LLAMA_SPEC = "llama.json";
/** What an image must hold to run it: a distribution of PyPI, normalized. */
export const LLAMA_PACKAGE = "xllamacpp";

export const LLAMA_POOLINGS = ["mean", "cls", "last"] as const;
export type LlamaPooling = (typeof LLAMA_POOLINGS)[number];

export type LlamaSpec = {
  formatVersion: 1;
  /** What answers call the model. */
  name: string;
  /** GGUF, in the container. */
  modelPath: string;
  /** What the model is for: `generate` tokens, or `embed` texts. */
  task: "generate" | "embed";
  /** How one vector comes of a text's many; null: as the weights say. */
  pooling: LlamaPooling | null;
  /** What `X-Replica-Id` says. */
  replica: string;
  /** In the replica's container, which has a network of its own. */
  port: number;
  /** Calls at once; each has its own context. */
  slots: number;
  /** Tokens of one call, the prompt's and the answer's. */
  contextTokens: number;
  /** Of a body, as the gateway sends it. */
  maxBodyBytes: number;
  /** By path, the fields of a body that reach the engine; no other path does. */
  allowed: Record<string, string[]>;
};
