import type { StepCache } from "../cache/step-cache.ts";
import type { LockFile } from "../lock/lock-file.ts";
import { buildPythonImage, lockedWheels, packWheels } from "./job-image.ts";

/** The image of engines on processors: Python, the server of llama.cpp, and what embeds texts; a tenth of a job image. Answers its OCI layout. */
export async function buildServeCpu(cache: StepCache, lock: LockFile): Promise<string> {
  const llama = await lockedWheels(cache, lock, "llama");
  const embeddings = await lockedWheels(cache, lock, "embeddings");
  const layers = [
    await packWheels(cache, lock, "layer llama.cpp", [llama]),
    await packWheels(cache, lock, "layer embeddings", [embeddings]),
  ];
  return await buildPythonImage(cache, lock, {
    ...{ profile: "serve-cpu", needs: null, layers, wheels: [llama, embeddings] },
  });
}
