import type { ObjectStore, ObjectVersion } from "../storage/object-store.ts";
import { S3ResponseError } from "../storage/s3-transport.ts";
import {
  type Chunk,
  chunksOf,
  isMergedInto,
  logFolder,
  MAX_CHUNKS,
} from "./decisions/log-chunks.ts";

export type LogStore = Pick<ObjectStore, "list" | "getRange">;
export type MemberLog = { bucket: string; job: string; member: string };

/** The chunks of a member's log as they stand now. @throws S3UnavailableError */
export async function listChunks(store: LogStore, log: MemberLog): Promise<Chunk[]> {
  const prefix = `${logFolder(log.job)}${log.member}-`;
  return chunksOf(await store.list(log.bucket, prefix, MAX_CHUNKS));
}

/**
 * Bytes `start` … `end` (both included) of a chunk. One that was merged since it was listed is read where its bytes are now.
 * @throws S3UnavailableError
 */
export async function readChunk(
  store: LogStore,
  log: MemberLog,
  { version, offset }: Chunk,
  start: number,
  end: number,
): Promise<Buffer> {
  try {
    return await store.getRange({ ...version, bucket: log.bucket }, start, end);
  } catch (error) {
    if (!(error instanceof S3ResponseError && error.status === 404)) throw error;
    const moved = await readStretch(store, log, version, offset + start, offset + end);
    if (moved.length !== end - start + 1) throw error;
    return moved;
  }
}

async function readStretch(
  store: LogStore,
  log: MemberLog,
  part: ObjectVersion,
  start: number,
  end: number,
): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (const { version, offset } of await listChunks(store, log)) {
    // A part that was removed moves what follows it: other bytes are not taken for its own.
    if (!isMergedInto(part, version)) continue;
    const from = Math.max(0, start - offset);
    const to = Math.min(version.sizeBytes - 1, end - offset);
    if (from <= to) parts.push(await store.getRange({ ...version, bucket: log.bucket }, from, to));
  }
  return Buffer.concat(parts);
}
