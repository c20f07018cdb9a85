import { basename } from "node:path";
import type { ImageNeeds } from "@resontech/contracts/image-needs";
import type { StepCache } from "../cache/step-cache.ts";
import type { LockFile } from "../lock/lock-file.ts";
import { buildPythonImage, lockedWheels, packWheels, type Wheels } from "./job-image.ts";

/**
 * Architectures: those of the fat binaries in `_C_stable_libtorch.abi3.so` of vLLM 0.33.0's wheel. Driver: the least of CUDA 13, as for `fl-cuda13`
 * (fl-cuda.ts): its torch is one for CUDA 13.0.
 */
const NEEDS: ImageNeeds = {
  vendor: "nvidia",
  leastDriver: "580",
  architectures: ["7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "12.0"],
};

/**
 * NVIDIA's libraries and torch change more seldom than vLLM: an upgrade that brings a newer one need not carry them again. Of two wheels that bring a
 * `build_backend.py` by mistake, torch's extension lies here as well: in one layer they would meet.
 */
const LOWEST = /^(?:nvidia[_-]|cuda[_-]|torch[_-]|triton-)/i;

/**
 * The image of vLLM: Python with a C compiler, vLLM and all that it names. Nothing is taken out: kernels are compiled and linked where they run. Answers its
 * OCI layout.
 */
export async function buildServeVllm(cache: StepCache, lock: LockFile): Promise<string> {
  const wheels = await lockedWheels(cache, lock, "vllm");
  const [below, above] = [true, false].map(
    (isLow): Wheels => ({
      id: `${wheels.id} ${isLow} ${LOWEST.source}`,
      files: wheels.files.filter((file) => LOWEST.test(basename(file)) === isLow),
    }),
  );
  const layers = [
    await packWheels(cache, lock, "layer CUDA and torch of serve-vllm", [below!]),
    await packWheels(cache, lock, "layer vLLM", [above!]),
  ];
  return await buildPythonImage(cache, lock, {
    ...{ profile: "serve-vllm", needs: NEEDS, root: "python-compiler" },
    ...{ layers, wheels: [wheels] },
  });
}
