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
  const prefix = `${key}/`;
  try {
    const objects = await store.list(bucket, prefix, MAX_OBJECTS);
    return objects
      .filter((object) => !object.key.endsWith("/"))
      .map((object) => ({ ...object, path: object.key.slice(prefix.length) }));
  } catch (error) {
    if (error instanceof TooManyObjectsError) {
      throw new ApiError("too_many_objects", `/${key} holds more than ${MAX_OBJECTS} objects`);
    }
    throw error;
  }
}
