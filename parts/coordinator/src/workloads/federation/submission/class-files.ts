import type { JobImage } from "@resontech/contracts/coordinator-config";
import { ApiError } from "../../../api-error.ts";
import type { JobFacts } from "./job-configs.ts";

export const SCRIPT_FILES = [
  "model_def.py",
  "custom_client_executor.py",
  "custom_persistor.py",
] as const;

/**
 * Classes whose module is neither a script nor in the image would end the job at its first second; all of them are named at once. Where the
 * release does not say what can be imported, the client's own `custom_*` and `model_*` modules alone are judged.
 * @param scripts paths relative to the scripts folder
 * @throws ApiError config_class_missing
 */
export function checkClassFiles(
  classes: JobFacts["classes"],
  scripts: readonly string[],
  image: Pick<JobImage, "packages" | "modules" | "profile">,
): void {
  const own = new Set(scripts.map((path) => path.split("/", 1)[0]!.replace(/\.py$/, "")));
  const inImage = image.modules === undefined ? null : new Set(image.modules);
  const missing = classes.filter(({ path }) => {
    const module = moduleOf(path);
    if (own.has(module)) return false;
    if (inImage !== null) return !inImage.has(module);
    return (
      /^(?:custom|model)_/.test(module) &&
      !Object.hasOwn(image.packages, module.toLowerCase().replaceAll(/[._]+/g, "-"))
    );
  });
  if (missing.length === 0) return;
  const named = missing.map(({ file, path }) => `${file} names ${path}`);
  const modules = [...new Set(missing.map(({ path }) => moduleOf(path)))];
  const files = modules.map((module) => `${module}.py`).join(", ");
  throw new ApiError(
    "config_class_missing",
    `${named.join("; ")}, but scripts/ has no ${files} and the job image ${image.profile} no such ${modules.length === 1 ? "module" : "modules"}`,
  );
}

function moduleOf(path: string): string {
  return path.split(".", 1)[0]!;
}
