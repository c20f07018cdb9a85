import { ApiError } from "../api-error.ts";
import { isObjectKey } from "./decisions/upload-plan.ts";
import type { ObjectStore, ObjectVersion } from "./object-store.ts";
import { S3ResponseError } from "./s3-transport.ts";

/** @param versionId none: the newest @throws ApiError not_found, also for what the store takes for no key or no version */
export async function findVersion(
  store: Pick<ObjectStore, "stat">,
  bucket: string,
  key: string,
  versionId?: string,
): Promise<ObjectVersion> {
  const found = isObjectKey(key)
    ? await store.stat(bucket, key, versionId).catch((error: unknown) => {
        if (error instanceof S3ResponseError && error.status < 500) return null;
        throw error;
      })
    : null;
  if (found === null) throw new ApiError("not_found", "there is no such object");
  return found;
}
