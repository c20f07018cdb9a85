import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fieldsOf } from "@resontech/contracts/openai-fields";
import {
  CACHE_SALT,
  MAX_OPENAI_BODY_BYTES,
  OPENAI_PATH,
} from "@resontech/contracts/openai-surface";
import { VLLM_SPEC, type VllmSpec } from "@resontech/contracts/vllm-spec";
import { EngineReplica } from "./engine-replica.ts";

const RECORDED = join(import.meta.dirname, "../fixtures/vllm.json");

export type Recorded = {
  version: string;
  model: string;
  contextTokens: number;
  recordings: {
    name: string;
    request: { method: string; path: string; body: Record<string, unknown> | null };
    answer: { status: number; headers: Record<string, string>; pieces: string[] };
  }[];
  /** All that the command line knows. */
  flags: string[];
  /** What is printed by one that can't start, by what is wrong with its model. */
  failures: Record<string, string[]>;
  freeAfterHangUpS: { stream: number; whole: number };
  otherPaths: Record<string, number>;
  saysWhatWasAsked: boolean;
  brokenStream: { pieces: string[]; exitCode: number };
};

/** What a real vLLM answered on a processor; record-vllm.py made it. */
export const recorded = JSON.parse(readFileSync(RECORDED, "utf8")) as Recorded;

/** Python with a real vLLM and its model, where a person names both: it takes the place of the played one. */
const REAL = {
  python: process.env["RT_TEST_VLLM_PYTHON"],
  model: process.env["RT_TEST_VLLM_MODEL"],
};
export const isReal = REAL.python !== undefined && REAL.model !== undefined;

/**
 * The real program around vLLM. Behind it stands a process that answers from the recording: a release has vLLM for GPUs alone.
 * @param root a folder of its own
 * @param fault what is wrong with the engine, see played-vllm
 */
export function startVllm(
  root: string,
  said: Pick<VllmSpec, "port"> & Partial<VllmSpec>,
  { fault = "", paceMs = 5 }: { fault?: string; paceMs?: number } = {},
): EngineReplica {
  const fields = (call: "chat/completions" | "completions") => [
    `${OPENAI_PATH}/${call}`,
    [...fieldsOf(call, "vllm"), CACHE_SALT],
  ];
  const spec: VllmSpec = {
    ...{ formatVersion: 1, name: "small chat", modelPath: REAL.model ?? "/app/model" },
    ...{ replica: "r-1", slots: 4, contextTokens: recorded.contextTokens, memoryShare: 0.5 },
    ...{ devices: 1, toolCallParser: "hermes", reasoningParser: null },
    maxBodyBytes: 2 * MAX_OPENAI_BODY_BYTES,
    allowed: Object.fromEntries([fields("chat/completions"), fields("completions")]),
    ...said,
  };
  const played = {
    PYTHONPATH: join(import.meta.dirname, "played-vllm"),
    ...{ PLAYED_VLLM: RECORDED, PLAYED_FAULT: fault, PLAYED_PACE_S: String(paceMs / 1_000) },
  };
  return EngineReplica.start(REAL.python ?? "python3", root, {
    ...{ module: "resontech_vllm", file: VLLM_SPEC, spec },
    environment: isReal ? {} : played,
  });
}
