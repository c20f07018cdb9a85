/** A task like an earlier one: all is judged as a submission is, of the versions that the earlier one read but for the files that were changed. */
import { type ChangedFiles, faultOfFiles } from "@resontech/contracts/changed-files";
import type { TaskVariantBody } from "@resontech/contracts/http-tasks";
import { ApiError } from "../api-error.ts";
import type { AcceptedInput } from "../kernel/accepted-task.ts";
import type { StoredTask } from "../kernel/stored-tasks.ts";
import { livingVersion } from "../storage/living-version.ts";
import {
  type ObjectStore,
  type ObjectVersion,
  TooManyObjectsError,
} from "../storage/object-store.ts";
import { addedInput, asFolder, bodyOfVariant, rootOfVariant } from "./decisions/variant.ts";
import { inParallel } from "./read-objects.ts";
import { livingInputs } from "./resubmit-task.ts";
import type { ValidateTask } from "./submit-task.ts";
import type { ValidatedTask, ValidationDeps } from "./validated-task.ts";

type Deps = Omit<ValidationDeps, "store"> & {
  store: Pick<ObjectStore, "stat" | "getRange">;
  validate: ValidateTask;
};

/** Objects that are asked for at once. */
const STREAMS = 16;

/** @throws ApiError `inputs_gone`, `not_found` for a file that is not there, `file_*`, `input_name_invalid`, and whatever a submission is refused with */
export async function validateVariant(
  deps: Deps,
  task: StoredTask,
  { files, addedFiles, removedFiles, ...changes }: TaskVariantBody,
): Promise<ValidatedTask> {
  const { bucket } = task;
  const root = rootOfVariant(task, changes);
  const changed = { files, addedFiles, removedFiles };
  const inputs = await changedInputs(deps.store, task, changed);
  const folder = asFolder(root, inputs);
  const store = storeOf(deps.store, folder);
  const body = bodyOfVariant({ ...task, inputs }, root, changes);
  const validated = await deps.validate({ ...deps, store }, bucket, body);
  return {
    ...validated,
    inputs: validated.inputs.map(({ key, kind, target }) => ({
      ...folder.get(key)!,
      kind,
      target,
    })),
  };
}

/** In the order of the earlier task's inputs, then what was added. */
async function changedInputs(
  store: Pick<ObjectStore, "stat">,
  { kind, bucket, inputs }: StoredTask,
  { files = [], addedFiles = [], removedFiles = [] }: ChangedFiles,
): Promise<AcceptedInput[]> {
  const known = inputs.map((input) => ({ ...input, path: input.target }));
  const fault = faultOfFiles({ kind, inputs: known }, { files, addedFiles, removedFiles });
  if (fault !== null) throw new ApiError(fault.code, fault.message);
  const gone = new Set([...removedFiles, ...files.map(({ input }) => input)]);
  const kept = inputs.filter(({ key }) => !gone.has(key));
  const [living, replacing, added] = await Promise.all([
    livingInputs(store, bucket, kept),
    namedVersions(store, bucket, files),
    namedVersions(store, bucket, addedFiles),
  ]);
  const now = new Map(kept.map((input, at) => [input, living[at]!]));
  const others = new Map(files.map(({ input }, at) => [input, replacing[at]!]));
  return [
    ...inputs.flatMap((input) => {
      const other = others.get(input.key);
      if (other === undefined) return now.get(input) ?? [];
      const { key, versionId, etag, sizeBytes } = other;
      return { ...{ kind: input.kind, target: input.target }, key, versionId, etag, sizeBytes };
    }),
    ...addedFiles.map(({ path }, at) => addedInput(kind, path, added[at]!)),
  ];
}

/** @throws ApiError `not_found` */
async function namedVersions(
  store: Pick<ObjectStore, "stat">,
  bucket: string,
  files: readonly { key: string; versionId?: string }[],
): Promise<ObjectVersion[]> {
  return await inParallel(files, STREAMS, async (file) => {
    const found = await livingVersion(store, bucket, file);
    if (found === null) throw new ApiError("not_found", `/${file.key} has no such version`);
    return found;
  });
}

/** A bucket that holds this folder alone. */
function storeOf(
  store: Pick<ObjectStore, "getRange">,
  folder: ReadonlyMap<string, AcceptedInput>,
): ValidationDeps["store"] {
  const objects = [...folder]
    .map(([key, { versionId, etag, sizeBytes }]) => ({ key, versionId, etag, sizeBytes }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  return {
    list: async (_bucket, prefix, limit) => {
      const found = objects.filter(({ key }) => key.startsWith(prefix));
      if (found.length > limit) throw new TooManyObjectsError(limit);
      return found;
    },
    // A question costs nothing here.
    listAtOnce: async () => null,
    getRange: async ({ bucket, key }, ...range) => {
      const { key: at, versionId } = folder.get(key)!;
      return await store.getRange({ bucket, key: at, versionId }, ...range);
    },
  };
}
