import { cpSync, existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ImageNeeds } from "@resontech/contracts/image-needs";
import type { StepCache } from "../cache/step-cache.ts";
import type { LockFile } from "../lock/lock-file.ts";
import { COMPILER_PARTS } from "./fl-cpu.ts";
import { buildJobImage, lockedWheels, packWheels, type Trim } from "./job-image.ts";

export type CudaImage = {
  profile: string;
  needs: ImageNeeds;
  torch: readonly string[];
  libraries: string;
};

/**
 * The image for Turing and newer. Architectures: what `torch.cuda.get_arch_list()` of torch 2.15.0 says. Driver: the least of CUDA 13,
 * https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/ table 2, "CUDA Toolkit and Minimum Required Driver Version".
 */
export const CUDA_13: CudaImage = {
  profile: "fl-cuda13",
  needs: {
    vendor: "nvidia",
    leastDriver: "580",
    architectures: ["7.5", "8.0", "8.6", "9.0", "10.0", "12.0"],
  },
  torch: ["torch", "vision"],
  libraries: "cuda13-libraries",
};

/** The image for Pascal and Volta, and for drivers before 580. Sources as for {@link CUDA_13}, of torch 2.7.1 and CUDA 12. */
export const CUDA_12: CudaImage = {
  profile: "fl-cuda12",
  needs: {
    vendor: "nvidia",
    leastDriver: "525.60.13",
    architectures: ["5.0", "6.0", "7.0", "7.5", "8.0", "8.6", "9.0"],
  },
  torch: ["torch-cuda12"],
  libraries: "cuda12-libraries",
};

/** Counts changes of {@link TRIM} that change a layer's bytes. */
const REVISION = 1;

/** A job image with torch for one CUDA and NVIDIA's libraries beside it. Answers its OCI layout. */
export async function buildFlCuda(
  cache: StepCache,
  lock: LockFile,
  { profile, needs, torch, libraries }: CudaImage,
): Promise<string> {
  const ofLibraries = await lockedWheels(cache, lock, libraries);
  const ofTorch = await Promise.all(torch.map((set) => lockedWheels(cache, lock, set)));
  // The libraries change more seldom than torch: an upgrade that brings a newer torch need not carry them again.
  const layers = [
    await packWheels(cache, lock, `layer CUDA libraries of ${profile}`, [ofLibraries], TRIM),
    await packWheels(cache, lock, `layer torch of ${profile}`, ofTorch, TRIM),
  ];
  return await buildJobImage(cache, lock, {
    profile,
    needs,
    layers,
    wheels: [ofLibraries, ...ofTorch],
  });
}

const TRIM: Trim = {
  inputs: { REVISION },
  async change(packages) {
    for (const part of COMPILER_PARTS)
      rmSync(join(packages, "torch", part), { recursive: true, force: true });
    for (const name of readdirSync(packages, { recursive: true, encoding: "utf8" }))
      if (name.endsWith(".a")) rmSync(join(packages, name));
    await putCupti(packages);
  },
};

/** torch looks for CUPTI beside CUDA's other libraries. NVIDIA's wheel of CUPTI 13 is not on PyPI; triton brings the library. */
async function putCupti(packages: string): Promise<void> {
  const [from, to] = [
    join(packages, "triton", "backends", "nvidia", "lib", "cupti-blackwell", "libcupti.so.13"),
    join(packages, "nvidia", "cu13", "lib"),
  ];
  if (existsSync(from) && existsSync(to)) cpSync(from, join(to, "libcupti.so.13"));
}
