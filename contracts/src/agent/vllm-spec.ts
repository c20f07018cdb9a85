/** Between the coordinator and the program around vLLM (parts/agent/runners/resontech_vllm): `/rt/job/vllm.json`, written by the agent. */

/** Payload of `/rt/init`; the interpreter is the image's. */
export const VLLM_COMMAND = ["python3", "-u", "/rt/runner/serve_vllm.py"] as const;
export const VLLM_SPEC = "vllm.json";
/** What an image must hold to run it: a distribution of PyPI, normalized. */
export const VLLM_PACKAGE = "vllm";

export type VllmSpec = {
  formatVersion: 1;
  /** What answers call the model. */
  name: string;
  /** A folder in Hugging Face's layout, in the container. */
  modelPath: string;
  /** What `X-Replica-Id` says. */
  replica: string;
  /** In the replica's container, which has a network of its own. */
  port: number;
  /** Calls at once; they share the room for contexts. */
  slots: number;
  /** Tokens of one call, the prompt's and the answer's. */
  contextTokens: number;
  /** Of each device's memory, for weights and contexts: above 0, below 1. */
  memoryShare: number;
  /** How many the member holds: the model is spread over all of them. */
  devices: number;
  /** By which of vLLM's parsers calls of tools, and what the model thinks, are found in its words; null: by none. */
  toolCallParser: string | null;
  reasoningParser: string | null;
  /** Of a body, as the gateway sends it. */
  maxBodyBytes: number;
  /** By path, the fields of a body that reach the engine; no other path does. */
  allowed: Record<string, string[]>;
};
