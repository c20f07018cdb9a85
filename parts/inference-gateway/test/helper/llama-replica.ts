import { LLAMA_SPEC, type LlamaSpec } from "@resontech/contracts/llama-spec";
import { fieldsOf } from "@resontech/contracts/openai-fields";
import {
  MAX_OPENAI_BODY_BYTES,
  OPENAI_CALLS,
  OPENAI_PATH,
} from "@resontech/contracts/openai-surface";
import { EngineReplica } from "./engine-replica.ts";

/** @param root a folder of its own */
export function startLlama(
  python: string,
  root: string,
  said: Pick<LlamaSpec, "modelPath" | "port"> & Partial<LlamaSpec>,
): EngineReplica {
  const spec: LlamaSpec = {
    ...{ formatVersion: 1, name: "small chat", task: "generate", pooling: null },
    ...{ replica: "r-1", slots: 2, contextTokens: 512 },
    maxBodyBytes: 2 * MAX_OPENAI_BODY_BYTES,
    allowed: Object.fromEntries(
      OPENAI_CALLS.map((call) => [`${OPENAI_PATH}/${call}`, fieldsOf(call, "llama.cpp")]),
    ),
    ...said,
  };
  return EngineReplica.start(python, root, { module: "resontech_llama", file: LLAMA_SPEC, spec });
}
