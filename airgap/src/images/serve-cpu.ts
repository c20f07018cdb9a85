import type { StepCache } from "../cache/step-cache.ts";
import type { LockFile } from "../lock/lock-file.ts";
import { buildPythonImage, lockedWheels, packWheels } from "./job-image.ts";

/** The image for models in GGUF: Python and the server of llama.cpp, a tenth of a job image. Answers its OCI layout. */
export async function buildServeCpu(cache: StepCache, lock: LockFile): Promise<string> {
  const llama = await lockedWheels(cache, lock, "llama");
  const layer = await packWheels(cache, lock, "layer llama.cpp", [llama]);
  return await buildPythonImage(cache, lock, {
    ...{ profile: "serve-cpu", needs: null, layers: [layer], wheels: [llama] },
  });
}
