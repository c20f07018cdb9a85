import type { ObjectStore, ObjectVersion } from "./object-store.ts";

export type CopyStore = Pick<
  ObjectStore,
  "createUpload" | "copyPart" | "completeUpload" | "abortUpload"
>;

/** Bytes of one part, both ends included. */
export type ByteRange = { start: number; end: number };

/** What is copied in one bucket: a version, to a key, in these parts. */
export type PartedCopy = {
  bucket: string;
  source: { key: string; versionId: string };
  key: string;
  ranges: readonly ByteRange[];
};

/**
 * The engine copies a version, part by part; no byte passes here. What fails is given up at the engine as well.
 * @param completing gets the id of the upload once all parts are copied, and calls `complete`. It must have the id on record before: the verifier
 * takes an upload that nobody announced for the work of somebody else who has the coordinator's key.
 */
export async function copyInParts<T>(
  store: CopyStore,
  { bucket, source, key, ranges }: PartedCopy,
  completing: (uploadId: string, complete: () => Promise<ObjectVersion>) => Promise<T>,
): Promise<T> {
  const uploadId = await store.createUpload(bucket, key, "application/octet-stream");
  try {
    const parts: { partNumber: number; etag: string }[] = [];
    for (const [at, range] of ranges.entries()) {
      const partNumber = at + 1;
      const etag = await store.copyPart(bucket, key, uploadId, partNumber, { ...source, range });
      parts.push({ partNumber, etag });
    }
    return await completing(uploadId, () => store.completeUpload(bucket, key, uploadId, parts));
  } catch (error) {
    await store.abortUpload(bucket, key, uploadId).catch(() => false);
    throw error;
  }
}
