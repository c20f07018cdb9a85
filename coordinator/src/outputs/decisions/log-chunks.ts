/** How a member's log lies in its bucket: `logs/JOB/MEMBER-GENERATION.COUNTER/SEQUENCE`. Pure. */
import type { ObjectVersion } from "../../storage/object-store.ts";

/** A part of a member's log. `offset`: where it begins in what the member printed. */
export type Chunk = { version: ObjectVersion; offset: number };

/** An agent stores a chunk every few seconds at most; so many are years. */
export const MAX_CHUNKS = 100_000;

/** Where all logs of a job lie. */
export function logFolder(jobId: string): string {
  return `logs/${jobId}/`;
}

/** Of which member the object at this key is a part. */
export function memberOfChunk(key: string): string {
  return key.split("/")[2]?.replace(/-[^-]*$/, "") ?? "";
}

/** Chunks of one member in the order in which they were printed: it goes on counting when its fence is renewed. */
export function chunksOf(versions: readonly ObjectVersion[]): Chunk[] {
  const sequenceOf = ({ key }: ObjectVersion) => Number(key.slice(key.lastIndexOf("/") + 1));
  let offset = 0;
  return [...versions]
    .sort((a, b) => sequenceOf(a) - sequenceOf(b))
    .map((version) => {
      const chunk = { version, offset };
      offset += version.sizeBytes;
      return chunk;
    });
}
