import { type ByteRange, copyInParts, type CopyStore } from "./copy-in-parts.ts";
import type { ObjectStore, ObjectVersion } from "./object-store.ts";

/** The engine copies each part within the time of one request. */
const PART_BYTES = 1024 ** 3;

/**
 * Makes an older version the newest one: the engine copies it, and all versions stay.
 * @param record has the upload on record before it calls `complete`
 */
export async function copyVersion(
  store: CopyStore & Pick<ObjectStore, "put">,
  bucket: string,
  { key, versionId, sizeBytes }: Pick<ObjectVersion, "key" | "versionId" | "sizeBytes">,
  record: (
    upload: { id: string; parts: number },
    complete: () => Promise<ObjectVersion>,
  ) => Promise<ObjectVersion>,
): Promise<ObjectVersion> {
  // There is no part of an empty object.
  if (sizeBytes === 0) return await store.put(bucket, key, "", "application/octet-stream");
  const ranges: ByteRange[] = [];
  for (let start = 0; start < sizeBytes; start += PART_BYTES)
    ranges.push({ start, end: Math.min(sizeBytes, start + PART_BYTES) - 1 });
  return await copyInParts(
    store,
    { bucket, source: { key, versionId }, key, ranges },
    (id, complete) => record({ id, parts: ranges.length }, complete),
  );
}
