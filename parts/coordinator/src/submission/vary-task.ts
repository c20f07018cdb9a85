/** A task like an earlier one: all is judged as a submission is, of the versions that the earlier one read but for the files that were changed. */
import type { TaskVariantBody } from "@resontech/contracts/http-tasks";
import { ApiError } from "../api-error.ts";
import type { AcceptedInput } from "../kernel/accepted-task.ts";
import type { StoredTask } from "../kernel/stored-tasks.ts";
import { livingVersion } from "../storage/living-version.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { asFolder, bodyOfVariant, rootOfVariant } from "./decisions/variant.ts";
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

/** @throws ApiError `inputs_gone`, `not_found` for a file that is not there, and whatever a submission is refused with */
export async function validateVariant(
  deps: Deps,
  task: StoredTask,
  { files = [], ...changes }: TaskVariantBody,
): Promise<ValidatedTask> {
  const { bucket } = task;
  const root = rootOfVariant(task, changes);
  const folder = asFolder(root, await changedInputs(deps.store, task, files));
  const store = storeOf(deps.store, folder);
  const body = bodyOfVariant(task, root, changes);
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

/** In the order of the earlier task's inputs. */
async function changedInputs(
  store: Pick<ObjectStore, "stat">,
  { bucket, inputs }: StoredTask,
  files: NonNullable<TaskVariantBody["files"]>,
): Promise<AcceptedInput[]> {
  const changes = new Map(files.map((file) => [file.input, file]));
  const unknown = files.find(({ input }) => !inputs.some(({ key }) => key === input));
  if (unknown !== undefined)
    throw new ApiError("not_found", `the earlier task read no /${unknown.input}`);
  const kept = inputs.filter(({ key }) => !changes.has(key));
  const [living, changed] = await Promise.all([
    livingInputs(store, bucket, kept),
    inParallel(files, STREAMS, async ({ input, key, versionId }) => {
      const found = await livingVersion(store, bucket, { key, versionId });
      if (found === null) throw new ApiError("not_found", `/${key} has no such version`);
      return [input, found] as const;
    }),
  ]);
  const now = new Map(kept.map((input, at) => [input, living[at]!]));
  const versions = new Map(changed);
  return inputs.map((input) => {
    const version = versions.get(input.key);
    if (version === undefined) return now.get(input)!;
    const { key, versionId, etag, sizeBytes } = version;
    return { ...{ kind: input.kind, target: input.target }, key, versionId, etag, sizeBytes };
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
    list: async (_bucket, prefix) => objects.filter(({ key }) => key.startsWith(prefix)),
    getRange: async ({ bucket, key }, ...range) => {
      const { key: at, versionId } = folder.get(key)!;
      return await store.getRange({ bucket, key: at, versionId }, ...range);
    },
  };
}
