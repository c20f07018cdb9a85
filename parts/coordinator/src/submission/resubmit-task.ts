/** A job once more: of the very versions that it was made of, whatever lies in its folder now. */
import { ApiError } from "../api-error.ts";
import { findPlatformKeys } from "../identity/decisions/platform-key.ts";
import type { AcceptedInput } from "../kernel/accepted-task.ts";
import type { StoredTask } from "../kernel/stored-tasks.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { isSameContent, onlyImagesOf, submittedChoicesOf } from "./decisions/resubmission.ts";
import { selectWorkers } from "./decisions/worker-selection.ts";
import { inParallel, readObject } from "./read-objects.ts";
import type { ValidatedTask, ValidationDeps } from "./validated-task.ts";

type Deps = Pick<ValidationDeps, "images" | "workers" | "catalogue"> & {
  store: Pick<ObjectStore, "stat" | "getRange">;
};

/** Objects that are asked for at once. */
const STREAMS = 16;
/** Of keys that are gone, so many are named. */
const MOST_NAMED = 3;

/**
 * What the job was made of, still to be had. Rules that the first submission was held to are not asked again where only inputs decide them.
 * @throws ApiError `inputs_gone`, `image_unavailable`, worker_*, gpu_model_unknown, price_ceiling_too_low, memory_exceeds_models
 */
export async function validateAgain(deps: Deps, task: StoredTask): Promise<ValidatedTask> {
  const inputs = await livingInputs(deps.store, task.bucket, task.inputs);
  const { workers, catalogue } = deps;
  const selection = selectWorkers(
    submittedChoicesOf(task),
    task.shardUncompressedBytes.length,
    workers(),
    catalogue(),
  );
  return {
    ...{ ...task, inputs, selection, ...onlyImagesOf(task, deps.images) },
    hasKeyInScript: await hasPlatformKey(deps.store, task.bucket, inputs),
  };
}

/** The inputs, each still to be had. @throws ApiError `inputs_gone` */
export async function livingInputs(
  store: Pick<ObjectStore, "stat">,
  bucket: string,
  inputs: readonly AcceptedInput[],
): Promise<AcceptedInput[]> {
  const found = await inParallel(inputs, STREAMS, (input) => livingInput(store, bucket, input));
  const gone = inputs.filter((_, at) => found[at] === null).map(({ key }) => `/${key}`);
  if (gone.length > 0)
    throw new ApiError(
      "inputs_gone",
      `${gone.length} of ${inputs.length} inputs are no longer what the job was made of: ${gone.slice(0, MOST_NAMED).join(", ")}${gone.length > MOST_NAMED ? ", …" : ""}`,
    );
  return found.filter((input) => input !== null);
}

/** The version that the job read; where that is gone, a later one with the same content. Null for neither. */
async function livingInput(
  store: Pick<ObjectStore, "stat">,
  bucket: string,
  input: AcceptedInput,
): Promise<AcceptedInput | null> {
  const kept = await store.stat(bucket, input.key, input.versionId);
  if (kept !== null) return isSameContent(kept, input) ? input : null;
  const now = await store.stat(bucket, input.key);
  return now !== null && isSameContent(now, input) ? { ...input, versionId: now.versionId } : null;
}

async function hasPlatformKey(
  store: Deps["store"],
  bucket: string,
  inputs: readonly AcceptedInput[],
): Promise<boolean> {
  const scripts = inputs.filter(({ kind, sizeBytes }) => kind === "script" && sizeBytes > 0);
  const texts = await inParallel(scripts, STREAMS, (script) =>
    readObject(store, bucket, { ...script, path: script.target }),
  );
  return texts.some((text) => findPlatformKeys(text.toString("latin1")).length > 0);
}
