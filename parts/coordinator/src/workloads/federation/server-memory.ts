/** A server ended out of memory: once more with twice as much where a node has that, else the number that it needs. Pure. */
import type { Regrowth } from "../../kernel/workload.ts";

/**
 * @param hadBytes the limit that it reached
 * @param mayRetry the budget of this cause is not spent
 * @param largestBytes the most that a container may have on any node
 */
export function evaluateServerMemory(
  hadBytes: number,
  mayRetry: boolean,
  largestBytes: number,
): Regrowth {
  const bytes = hadBytes * 2;
  if (mayRetry && bytes <= largestBytes) return { again: true, bytes };
  const nodes =
    bytes <= largestBytes
      ? ""
      : `; a container may have at most ${gib(largestBytes)} on the largest node`;
  const message = `The server used up its ${gib(hadBytes)} of memory. It needs more, so state estimatedMemoryMb: ${mb(bytes)}, or make the model smaller${nodes}.`;
  return { again: false, message };
}

function gib(bytes: number): string {
  return `${(bytes / 1024 ** 3).toFixed(1)} GiB`;
}

function mb(bytes: number): number {
  return Math.ceil(bytes / 1024 ** 2);
}
