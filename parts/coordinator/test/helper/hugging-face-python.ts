import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { StepCache } from "@resontech/airgap/step-cache";

const run = promisify(execFile);
const cache = new StepCache(join(import.meta.dirname, "../../../../.cache/test-venvs"));
const PACKAGES = ["huggingface_hub==2.4.0"];

/** Python with the unmodified client of Hugging Face, installed once and kept in `.cache/`. */
export async function huggingFacePython(): Promise<string> {
  const venv = await cache.fetch("python hugging face", { packages: PACKAGES }, async (into) => {
    await run("python3", ["-m", "venv", into]);
    await run(join(into, "bin/python"), ["-m", "pip", "install", "--quiet", ...PACKAGES]);
  });
  return join(venv, "bin/python");
}
