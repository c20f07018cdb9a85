import { ApiError } from "../api-error.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import type { FolderObject } from "./folder-objects.ts";

export function readObject(
  store: Pick<ObjectStore, "getRange">,
  bucket: string,
  object: FolderObject,
): Promise<Buffer> {
  return store.getRange(
    { bucket, key: object.key, versionId: object.versionId },
    0,
    object.sizeBytes - 1,
  );
}

export function asText(
  bytes: Buffer,
  path: string,
  code: "script_not_text" | "config_invalid_json" | "requirement_invalid",
): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ApiError(code, `${path} is not UTF-8 text`);
  }
}

/** Results in the order of `items`, at most `limit` under way; the first failure ends it. */
export async function inParallel<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const lane = async () => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, lane));
  return results;
}
