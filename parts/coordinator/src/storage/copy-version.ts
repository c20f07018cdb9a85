import type { ObjectStore, ObjectVersion } from "./object-store.ts";

type CopyStore = Pick<
  ObjectStore,
  "createUpload" | "copyPart" | "completeUpload" | "abortUpload" | "put"
>;

/** The engine copies each part within the time of one request. */
const PART_BYTES = 1024 ** 3;
const TYPE = "application/octet-stream";

/** Makes an older version the newest one: the engine copies it, and all versions stay. */
export async function copyVersion(
  store: CopyStore,
  bucket: string,
  { key, versionId, sizeBytes }: Pick<ObjectVersion, "key" | "versionId" | "sizeBytes">,
): Promise<ObjectVersion> {
  // There is no part of an empty object.
  if (sizeBytes === 0) return await store.put(bucket, key, "", TYPE);
  const uploadId = await store.createUpload(bucket, key, TYPE);
  try {
    const parts: { partNumber: number; etag: string }[] = [];
    for (let start = 0; start < sizeBytes; start += PART_BYTES) {
      const end = Math.min(sizeBytes, start + PART_BYTES) - 1;
      const partNumber = parts.length + 1;
      const source = { key, versionId, range: { start, end } };
      const etag = await store.copyPart(bucket, key, uploadId, partNumber, source);
      parts.push({ partNumber, etag });
    }
    return await store.completeUpload(bucket, key, uploadId, parts);
  } catch (error) {
    await store.abortUpload(bucket, key, uploadId).catch(() => false);
    throw error;
  }
}
