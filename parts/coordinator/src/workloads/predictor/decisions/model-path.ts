/** What `model.path` of an `inference.yaml` names. Pure. */
import { DEFAULT_REVISION } from "@resontech/contracts/http-models";
import { MODEL_CHECKPOINT } from "@resontech/contracts/model-output";
import { ApiError } from "../../../api-error.ts";
import { isObjectKey } from "../../../storage/decisions/upload-plan.ts";

export type ModelPath =
  /** A file of the deployment's own folder, most often below `model/`. */
  | { from: "folder"; name: string }
  /** An object of the project's bucket. */
  | { from: "bucket"; key: string }
  /** What a finished job left, below its own folder. */
  | { from: "job"; job: string; file: string }
  /** A model of the hub; null: all of its files. */
  | { from: "hub"; name: string; revision: string; file: string | null };

const JOB = /^job:(?<job>[A-Za-z0-9_-]{1,128})(?:\/(?<file>.+))?$/s;

const HUB = /^hub:(?<name>[^/@]+\/[^/@]+)(?:@(?<revision>[^/@]+))?(?:\/(?<file>.+))?$/s;

/**
 * `NAME`, `/KEY`, `job:ID`, `job:ID/FILE`, `hub:NAME@REVISION` or `hub:NAME@REVISION/FILE`.
 * @throws ApiError path_invalid
 */
export function readModelPath(text: string): ModelPath {
  if (text.startsWith("job:")) {
    const { job, file = MODEL_CHECKPOINT } = JOB.exec(text)?.groups ?? {};
    if (job === undefined || !isObjectKey(file))
      throw invalid(text, "a job is named as job:ID, or as job:ID/FILE");
    return { from: "job", job, file };
  }
  if (text.startsWith("hub:")) {
    const { name, revision = DEFAULT_REVISION, file = null } = HUB.exec(text)?.groups ?? {};
    if (name === undefined || (file !== null && !isObjectKey(file)))
      throw invalid(text, "a model of the hub is named as hub:NAME@REVISION");
    return { from: "hub", name, revision, file };
  }
  const key = text.replace(/^\//, "");
  if (!isObjectKey(key)) throw invalid(text, "it has an empty, `.`, `..` or unprintable part");
  return text === key ? { from: "folder", name: key } : { from: "bucket", key };
}

function invalid(text: string, why: string): ApiError {
  return new ApiError("path_invalid", `model.path ${JSON.stringify(text)}: ${why}`);
}
