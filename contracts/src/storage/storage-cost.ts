/**
 * What a bucket's quota takes for one version, part, delete marker or open upload at least: a block of the disk, which holds its metadata and tags too.
 * docs/researcher/storage.md states it.
 */
export const LEAST_COST_BYTES = 4096;

/** Answers the bytes that a quota takes for one version or part with so many bytes. */
export function storageCost(bytes: number): number {
  return Math.max(bytes, LEAST_COST_BYTES);
}
