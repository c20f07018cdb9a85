import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { command } from "../cache/command.ts";
import { resultId, type StepCache } from "../cache/step-cache.ts";
import { fetchWheels, wheelsIn } from "../fetch/pypi.ts";
import type { LockFile } from "../lock/lock-file.ts";
import { buildJobImage, lockedWheels, packWheels, type Wheels } from "./job-image.ts";
import { SITE_PACKAGES, unpackWheels } from "../fetch/python-tree.ts";

const recipes = join(import.meta.dirname, "..", "..", "recipes");
const STAND_INS = join(recipes, "torch-cpu", "mkstubs.py");
const SHRINK = join(recipes, "torch-cpu", "shrink-elf.py");

/** Parts of torch that serve to compile extensions: a job image has no compiler. */
export const COMPILER_PARTS = ["include", "bin/protoc", "bin/protoc-3.21.12.0"];

/** The job image for processors: torch without CUDA. Answers its OCI layout. */
export async function buildFlCpu(cache: StepCache, lock: LockFile): Promise<string> {
  const vision = await lockedWheels(cache, lock, "vision");
  const torch = await lockedWheels(cache, lock, "torch");
  const layers = await Promise.all([
    packWheels(cache, lock, "layer vision", [vision]),
    packTorch(cache, lock, torch),
  ]);
  return await buildJobImage(cache, lock, {
    profile: "fl-cpu",
    needs: null,
    layers,
    wheels: [vision, torch],
  });
}

async function packTorch(cache: StepCache, lock: LockFile, torch: Wheels): Promise<string> {
  const tools = await fetchWheels(cache, lock, "build-tools");
  const recipe = [STAND_INS, SHRINK].map((file) => readFileSync(file, "utf8"));
  return await packWheels(cache, lock, "layer torch for CPU", [torch], {
    inputs: { tools: resultId(tools), recipe },
    async change(packages, scratch) {
      const torch = join(packages, "torch");
      await putStandIns(join(torch, "lib"), wheelsIn(tools), scratch);
      for (const part of COMPILER_PARTS)
        rmSync(join(torch, part), { recursive: true, force: true });
    },
  });
}

/** Stand-ins for the CUDA user libraries that torch links to, where its run path looks; then torch's own without their device code. */
async function putStandIns(lib: string, tools: readonly string[], scratch: string): Promise<void> {
  const [elftools, stubs] = [join(scratch, "elftools"), join(scratch, "stubs")];
  mkdirSync(stubs);
  await unpackWheels(tools, elftools);
  await command("python3", [STAND_INS, lib, stubs], {
    env: { ...process.env, PYTHONPATH: join(elftools, SITE_PACKAGES) },
  });
  const libraries = readdirSync(lib).filter((name) => /^libtorch.*\.so$/.test(name));
  await command("python3", [SHRINK, ...libraries.sort().map((name) => join(lib, name))]);
  for (const name of readdirSync(stubs).filter(
    (file) => /\.so(\.|$)/.test(file) && !/\.(c|map)$/.test(file),
  ))
    copyFileSync(join(stubs, name), join(lib, name));
  for (const folder of [elftools, stubs]) rmSync(folder, { recursive: true });
}
