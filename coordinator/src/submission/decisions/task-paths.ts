/** The folders of a task as keys of the bucket, checked before the bucket is asked. */
import type { SubmitTaskBody } from "@resontech/contracts/http-tasks";
import { ApiError } from "../../api-error.ts";
import { PLATFORM_FOLDERS } from "../../storage/decisions/bucket-policy.ts";

/** Keys without slashes at the ends. */
export type TaskPaths = {
  shards: string;
  scripts: string;
  configs: string;
  requirements: string;
  model: string | null;
  /** Parent of `shards`: `jobs/<slug>`. */
  outputRoot: string;
};

/** @throws ApiError path_invalid, path_outside_jobs, path_reserved */
export function taskPaths(body: SubmitTaskBody): TaskPaths {
  const shards = folderKey("shardsDirPath", body.shardsDirPath);
  return {
    shards,
    scripts: folderKey("trainingScriptsFolderPath", body.trainingScriptsFolderPath),
    configs: folderKey("trainingConfigFolderPath", body.trainingConfigFolderPath),
    requirements: folderKey("trainingRequirementsFolderPath", body.trainingRequirementsFolderPath),
    // A warm start from an earlier job's output is the one use of a platform folder.
    model: body.modelFolderPath === undefined ? null : folderKey("modelFolderPath", body.modelFolderPath, ["model_out"]),
    outputRoot: shards.slice(0, shards.lastIndexOf("/")),
  };
}

function folderKey(field: string, path: string, readable: readonly string[] = []): string {
  if (!path.startsWith("/")) throw new ApiError("path_invalid", `${field} does not start with a slash`);
  const key = path.slice(1).replace(/\/$/, "");
  const segments = key.split("/");
  const isBad = (segment: string) => segment === "" || segment === "." || segment === ".." || /[\p{Cc}\\]/u.test(segment);
  if (segments.some(isBad)) throw new ApiError("path_invalid", `${field} has an empty, \`.\`, \`..\` or unprintable part`);
  if (!key.isWellFormed()) throw new ApiError("path_invalid", `${field} is not Unicode text`);
  if (segments[0] !== "jobs" || segments.length < 3)
    throw new ApiError("path_outside_jobs", `${field} is not a folder of /jobs/<name>/`);
  const reserved = segments.find(
    (segment) => PLATFORM_FOLDERS.some((folder) => folder === segment) && !readable.includes(segment),
  );
  if (reserved !== undefined) throw new ApiError("path_reserved", `${field} lies in ${reserved}/`);
  return key;
}

/**
 * As the client makes it: trimmed, lower case, spaces to hyphens, then letters and digits of any script, `-` and `_` alone.
 * @returns "job" when nothing is left
 */
export function slugOf(name: string): string {
  return (
    name
      .trim()
      .toLowerCase()
      .replaceAll(" ", "-")
      .replaceAll(/[^\p{L}\p{N}_-]/gu, "") || "job"
  );
}
