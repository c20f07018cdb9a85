import { isObjectKey } from "./decisions/upload-plan.ts";
import type { ObjectStore, ObjectVersion } from "./object-store.ts";
import { S3ResponseError } from "./s3-transport.ts";

/** A version of an object that somebody names, the newest where none is named. Null where there is none, also for what the store takes for no key. */
export async function livingVersion(
  store: Pick<ObjectStore, "stat">,
  bucket: string,
  { key, versionId }: { key: string; versionId?: string | undefined },
): Promise<ObjectVersion | null> {
  if (!isObjectKey(key)) return null;
  return await store.stat(bucket, key, versionId).catch((error: unknown) => {
    if (error instanceof S3ResponseError && error.status < 500) return null;
    throw error;
  });
}
