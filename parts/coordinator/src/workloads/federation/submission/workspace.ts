/** The objects of a task's folders as the bucket has them now, each with the version that the job will read. */
import { ApiError } from "../../../api-error.ts";
import type { AcceptedInput } from "../../../kernel/accepted-task.ts";
import type { ObjectStore } from "../../../storage/object-store.ts";
import { type FolderObject, listFolders } from "../../../submission/folder-objects.ts";
import type { TaskPaths } from "./task-paths.ts";

export type Workspace = {
  scripts: FolderObject[];
  configs: FolderObject[];
  requirements: FolderObject[];
  /** `*.zip`, any case, by file name. */
  shards: FolderObject[];
  model: FolderObject | null;
};

const MAX_SHARDS = 256;
/** Of the names of all scripts and configs, as JSON: they travel to the node in one message. */
const MAX_NAMES_BYTES = 256 * 1024;

/** @throws ApiError too_many_objects, shard_folder_empty, shard_too_many, model_* */
export async function readWorkspace(
  store: Pick<ObjectStore, "list" | "listAtOnce">,
  bucket: string,
  paths: TaskPaths,
): Promise<Workspace> {
  const [scripts = [], configs = [], requirements = [], shards = [], model] = await listFolders(
    ...([store, bucket, paths.outputRoot] as const),
    [
      ...[paths.scripts, paths.configs, paths.requirements, paths.shards],
      ...(paths.model === null ? [] : [paths.model]),
    ],
  );
  const zips = shards.filter(
    ({ path }) => !path.includes("/") && path.toLowerCase().endsWith(".zip"),
  );
  if (zips.length === 0)
    throw new ApiError("shard_folder_empty", `/${paths.shards} holds no *.zip`);
  const namesBytes = Buffer.byteLength(
    JSON.stringify([...scripts, ...configs].map(({ path }) => path)),
  );
  if (namesBytes > MAX_NAMES_BYTES)
    throw new ApiError(
      "too_many_objects",
      `the names of the files in /${paths.scripts} and /${paths.configs} are ${namesBytes} bytes long, more than ${MAX_NAMES_BYTES}`,
    );
  if (zips.length > MAX_SHARDS)
    throw new ApiError("shard_too_many", `/${paths.shards} holds ${zips.length} shards`);
  return {
    scripts,
    configs,
    requirements,
    shards: zips,
    model: model === undefined ? null : warmStart(paths.model ?? "", model),
  };
}

function warmStart(folder: string, objects: readonly FolderObject[]): FolderObject {
  const [first, second] = objects;
  if (first === undefined) throw new ApiError("model_folder_empty", `/${folder} holds no file`);
  if (second !== undefined)
    throw new ApiError("model_file_ambiguous", `/${folder} holds ${objects.length} files`);
  return first;
}

/** Lists the inputs in the order that the kernel numbers them: shards by file name. */
export function acceptedInputs(workspace: Workspace): AcceptedInput[] {
  const input = (
    kind: AcceptedInput["kind"],
    object: FolderObject,
    target: string,
  ): AcceptedInput => ({
    kind,
    target,
    key: object.key,
    versionId: object.versionId,
    etag: object.etag,
    sizeBytes: object.sizeBytes,
  });
  const basename = (path: string) => path.slice(path.lastIndexOf("/") + 1);
  return [
    ...workspace.scripts.map((object) => input("script", object, `scripts/${object.path}`)),
    ...workspace.configs.map((object) => input("config", object, `configs/${object.path}`)),
    ...workspace.requirements.map((object) =>
      input("requirements", object, `requirements/${object.path}`),
    ),
    ...workspace.shards.map((object) => input("shard", object, "shard.zip")),
    ...(workspace.model === null
      ? []
      : [input("model", workspace.model, `model/${basename(workspace.model.path)}`)]),
  ];
}
