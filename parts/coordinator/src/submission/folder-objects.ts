/** The objects of a folder as the bucket has them now, each with the version that the job will read. */
import { ApiError } from "../api-error.ts";
import {
  type ObjectStore,
  type ObjectVersion,
  TooManyObjectsError,
} from "../storage/object-store.ts";

export type FolderObject = ObjectVersion & { /** Relative to the folder. */ path: string };

const MAX_OBJECTS = 1_000;

/** @throws ApiError too_many_objects */
export async function listFolder(
  store: Pick<ObjectStore, "list">,
  bucket: string,
  key: string,
): Promise<FolderObject[]> {
  try {
    return filesBelow(key, await store.list(bucket, `${key}/`, MAX_OBJECTS));
  } catch (error) {
    if (error instanceof TooManyObjectsError) {
      throw new ApiError("too_many_objects", `/${key} holds more than ${MAX_OBJECTS} objects`);
    }
    throw error;
  }
}

/**
 * The objects of several folders, each as {@link listFolder} answers it. A job's folders lie below one root, and where that holds little more the store is
 * asked once for all of them: each question passes TLS, the S3 front and the engine.
 * @param keys of the folders
 * @returns in the order of `keys`
 * @throws ApiError too_many_objects
 */
export async function listFolders(
  store: Pick<ObjectStore, "list" | "listAtOnce">,
  bucket: string,
  root: string,
  keys: readonly string[],
): Promise<FolderObject[][]> {
  const isBelow = (key: string) => key.startsWith(`${root}/`);
  const below =
    keys.filter(isBelow).length > 1
      ? store.listAtOnce(bucket, `${root}/`)
      : Promise.resolve<ObjectVersion[] | null>(null);
  return await Promise.all(
    keys.map(async (key) => {
      const seen = isBelow(key) ? await below : null;
      return seen === null ? await listFolder(store, bucket, key) : filesBelow(key, seen);
    }),
  );
}

/** Objects whose key ends with a slash stand for folders. */
function filesBelow(folder: string, objects: readonly ObjectVersion[]): FolderObject[] {
  const prefix = `${folder}/`;
  return objects
    .filter(({ key }) => key.startsWith(prefix) && !key.endsWith("/"))
    .map((object) => ({ ...object, path: object.key.slice(prefix.length) }));
}
