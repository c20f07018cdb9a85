/** Draws the moments at which the power is cut. */
import type { Window } from "./recorded-run.ts";

/** Half of them anywhere, half from every kind of call alike, so that what happens once in a log's life is met too. Ascending. */
export function drawPoints(
  count: number,
  calls: number,
  kinds: ReadonlyMap<string, readonly number[]>,
  random: () => number,
): number[] {
  const groups = [...kinds.values()];
  return Array.from({ length: count }, (_, n) => {
    if (n % 2 === 0) return Math.ceil(random() * calls);
    const group = groups[Math.floor(random() * groups.length)]!;
    // Just after the call.
    return group[Math.floor(random() * group.length)]! + 1;
  }).sort((a, b) => a - b);
}

/** Within these windows, half of them at one's end, where most was built upon what was not made durable. Ascending. */
export function drawPointsWithin(count: number, calls: number, windows: readonly Window[], random: () => number): number[] {
  return Array.from({ length: count }, (_, n) => {
    const { from, until } = windows[Math.floor(random() * windows.length)]!;
    const length = Math.max(1, until - from + 1);
    const point = n % 2 === 0 ? from + Math.floor(random() * length) : until - Math.floor(random() * Math.min(length, END_CALLS));
    return Math.min(calls, Math.max(from, point));
  }).sort((a, b) => a - b);
}

const END_CALLS = 4;
