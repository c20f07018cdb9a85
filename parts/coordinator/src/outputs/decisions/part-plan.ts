const MIB = 1024 ** 2;
const SMALLEST_PART_BYTES = 64 * MIB;
/** S3's limit. */
const LARGEST_PART_BYTES = 5 * 1024 * MIB;
/** All URLs of an upload fit one answer. */
const MAX_PARTS = 1000;
const SHORTEST_S = 15 * 60;
const LONGEST_S = 7 * 86_400;
/** Slowest upload that its URLs outlive. */
const BYTES_PER_S = 5_000_000;
/** Slowest copying of parts. */
const COPIED_BYTES_PER_MS = 20_000;
const SHORTEST_COMPLETION_MS = 60_000;

/** How an output is cut. Null when it is larger than an object can be. An empty one has one empty part. */
export function partPlan(sizeBytes: number): { partSizeBytes: number; partCount: number } | null {
  const partSizeBytes = Math.max(SMALLEST_PART_BYTES, Math.ceil(sizeBytes / MAX_PARTS / MIB) * MIB);
  if (partSizeBytes > LARGEST_PART_BYTES) return null;
  return { partSizeBytes, partCount: Math.max(1, Math.ceil(sizeBytes / partSizeBytes)) };
}

/** Seconds that a URL for moving so many bytes lives. */
export function urlLifeS(sizeBytes: number): number {
  return Math.min(LONGEST_S, Math.max(SHORTEST_S, Math.ceil(sizeBytes / BYTES_PER_S)));
}

/** Answers the milliseconds after which nobody puts the parts together any more: whoever did was cut off. */
export function completionLimitMs(sizeBytes: number): number {
  return SHORTEST_COMPLETION_MS + Math.ceil(sizeBytes / COPIED_BYTES_PER_MS);
}
