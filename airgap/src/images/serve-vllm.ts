import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ImageNeeds } from "@resontech/contracts/image-needs";
import type { StepCache } from "../cache/step-cache.ts";
import type { LockFile } from "../lock/lock-file.ts";
import { buildPythonImage, lockedWheels, packWheels, type Trim, type Wheels } from "./job-image.ts";

/**
 * Architectures: the device code in the libraries of vLLM 0.33.0's wheel, which `cuobjdump` of CUDA lists. Driver: the least of CUDA 13, as for `fl-cuda13`
 * (fl-cuda.ts): its torch is one for CUDA 13.0.
 */
export const VLLM_NEEDS: ImageNeeds = {
  vendor: "nvidia",
  leastDriver: "580",
  architectures: ["7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "12.0"],
};

/** NVIDIA's libraries and torch change more seldom than vLLM: an upgrade that brings a newer one need not carry them again. */
const LOWEST = /^(?:nvidia[_-]|cuda[_-]|torch-|triton-)/i;

/** Counts changes of {@link TRIM} that change a layer's bytes. */
const REVISION = 1;

/** The image of vLLM: Python with a C compiler, vLLM and all that it names. Answers its OCI layout. */
export async function buildServeVllm(cache: StepCache, lock: LockFile): Promise<string> {
  const wheels = await lockedWheels(cache, lock, "vllm");
  const [below, above] = [true, false].map(
    (isLow): Wheels => ({
      id: `${wheels.id} ${isLow}`,
      files: wheels.files.filter((file) => LOWEST.test(file.split("/").at(-1)!) === isLow),
    }),
  );
  const layers = [
    await packWheels(cache, lock, "layer CUDA and torch of serve-vllm", [below!], TRIM),
    await packWheels(cache, lock, "layer vLLM", [above!], TRIM),
  ];
  return await buildPythonImage(cache, lock, {
    ...{ profile: "serve-vllm", needs: VLLM_NEEDS, root: "python-compiler" },
    ...{ layers, wheels: [wheels] },
  });
}

/** Static libraries: nobody links in a container. Headers stay: kernels are compiled there. */
const TRIM: Trim = {
  inputs: { REVISION },
  async change(packages) {
    for (const name of readdirSync(packages, { recursive: true, encoding: "utf8" }))
      if (name.endsWith(".a")) rmSync(join(packages, name));
  },
};
