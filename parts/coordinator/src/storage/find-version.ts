import { ApiError } from "../api-error.ts";
import { livingVersion } from "./living-version.ts";
import type { ObjectStore, ObjectVersion } from "./object-store.ts";

/** @param versionId none: the newest @throws ApiError not_found, also for what the store takes for no key or no version */
export async function findVersion(
  store: Pick<ObjectStore, "stat">,
  bucket: string,
  key: string,
  versionId?: string,
): Promise<ObjectVersion> {
  const found = await livingVersion(store, bucket, { key, versionId });
  if (found === null) throw new ApiError("not_found", "there is no such object");
  return found;
}
