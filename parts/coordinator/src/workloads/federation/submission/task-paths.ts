/** The folders of a task as keys of the bucket, checked before the bucket is asked. */
import type { SubmitFederationBody } from "@resontech/contracts/http-tasks";
import { folderKey } from "../../../submission/decisions/bucket-key.ts";

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
export function taskPaths(body: SubmitFederationBody): TaskPaths {
  const shards = folderKey("shardsDirPath", body.shardsDirPath);
  return {
    shards,
    scripts: folderKey("trainingScriptsFolderPath", body.trainingScriptsFolderPath),
    configs: folderKey("trainingConfigFolderPath", body.trainingConfigFolderPath),
    requirements: folderKey("trainingRequirementsFolderPath", body.trainingRequirementsFolderPath),
    // A warm start from an earlier job's output is the one use of a platform folder.
    model:
      body.modelFolderPath === undefined
        ? null
        : folderKey("modelFolderPath", body.modelFolderPath, ["model_out"]),
    outputRoot: shards.slice(0, shards.lastIndexOf("/")),
  };
}
