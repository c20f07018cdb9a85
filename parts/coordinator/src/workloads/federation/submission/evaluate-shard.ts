import { setImmediate } from "node:timers/promises";
import type { ObjectStore, ObjectVersion } from "../../../storage/object-store.ts";
import {
  evaluateDirectory,
  locateDirectory,
  TAIL_BYTES,
  type ZipSummary,
} from "./zip-directory.ts";

/** Reads the end of one shard, and its directory where that is longer, through ranged GETs of the recorded version. */
export async function evaluateShard(
  store: Pick<ObjectStore, "getRange">,
  bucket: string,
  shard: ObjectVersion,
  name: string,
): Promise<ZipSummary> {
  const { key, versionId, sizeBytes } = shard;
  const range = (start: number, end: number) =>
    store.getRange({ bucket, key, versionId }, start, end);
  const tailStart = Math.max(0, sizeBytes - TAIL_BYTES);
  const tail = await range(tailStart, sizeBytes - 1);
  const { offset, bytes, entries } = locateDirectory(name, tail, sizeBytes);
  const directory =
    offset >= tailStart
      ? tail.subarray(offset - tailStart, offset - tailStart + bytes)
      : await range(offset, offset + bytes - 1);
  const judging = evaluateDirectory(name, directory, entries, sizeBytes);
  for (let step = judging.next(); ; step = judging.next()) {
    if (step.done === true) return step.value;
    await setImmediate();
  }
}
