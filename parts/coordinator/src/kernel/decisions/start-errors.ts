/** Fewer say nothing about the next one. */
const LEAST = 5;

/**
 * How wrong told starts were. @property jobs that it is of
 * @property earlierMs eight of ten started no more than so much before what was told; never below 0
 * @property laterMs and no more than so much after it
 */
export type StartErrors = { jobs: number; earlierMs: number; laterMs: number };

/** @param errors by how much each started after what was told, in milliseconds; below 0, before @returns null of too few */
export function startErrors(errors: readonly number[]): StartErrors | null {
  if (errors.length < LEAST) return null;
  const sorted = errors.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))]!;
  return {
    jobs: errors.length,
    earlierMs: Math.max(0, -at(0.1)),
    laterMs: Math.max(0, at(0.9)),
  };
}
