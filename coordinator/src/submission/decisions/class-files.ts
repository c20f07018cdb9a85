import { ApiError } from "../../api-error.ts";
import type { JobFacts } from "./job-configs.ts";

export const SCRIPT_FILES = ["model_def.py", "custom_client_executor.py", "custom_persistor.py"] as const;

/**
 * The client's own class names are `<script>.<Class>`. One whose module is neither a script nor anything that the image could
 * hold under that name would end the job at its first second.
 * @param scripts paths relative to the scripts folder
 * @param packages normalized names of the image's distributions
 * @throws ApiError config_class_missing
 */
export function checkClassFiles(classes: JobFacts["classes"], scripts: readonly string[], packages: readonly string[]): void {
  const modules = new Set(scripts.map((path) => path.split("/", 1)[0]!.replace(/\.py$/, "")));
  for (const { file, path } of classes) {
    const module = path.split(".", 1)[0]!;
    if (modules.has(module) || !/^(?:custom|model)_/.test(module)) continue;
    if (packages.includes(module.toLowerCase().replaceAll(/[._]+/g, "-"))) continue;
    throw new ApiError("config_class_missing", `${file} names ${path}, but scripts/ has no ${module}.py`);
  }
}
