/** Draws the moments at which the power is cut. */
import type { Window } from "./recorded-run.ts";

/** Half of them anywhere in these windows, half from every kind of call alike, so that what happens once in a log's life is met too. Ascending. */
export function drawPoints(
  count: number,
  windows: readonly Window[],
  kinds: ReadonlyMap<string, readonly number[]>,
  random: () => number,
): number[] {
  const isWithin = (at: number): boolean =>
    windows.some(({ from, until }) => from <= at && at < until);
  const groups = [...kinds.values()]
    .map((group) => group.filter(isWithin))
    .filter(({ length }) => length > 0);
  return Array.from({ length: count }, (_, n) => {
    if (n % 2 === 0) return pointIn(windows, Math.floor(random() * lengthOf(windows)));
    const group = groups[Math.floor(random() * groups.length)]!;
    // Just after the call.
    return group[Math.floor(random() * group.length)]! + 1;
  }).sort((a, b) => a - b);
}

/** Within these windows, half of them at one's end, where most was built upon what was not made durable. Ascending. */
export function drawPointsWithin(
  count: number,
  calls: number,
  windows: readonly Window[],
  random: () => number,
): number[] {
  return Array.from({ length: count }, (_, n) => {
    const { from, until } = windows[Math.floor(random() * windows.length)]!;
    const length = Math.max(1, until - from + 1);
    const point =
      n % 2 === 0
        ? from + Math.floor(random() * length)
        : until - Math.floor(random() * Math.min(length, END_CALLS));
    return Math.min(calls, Math.max(from, point));
  }).sort((a, b) => a - b);
}

const END_CALLS = 4;

function lengthOf(windows: readonly Window[]): number {
  return windows.reduce((sum, { from, until }) => sum + until - from, 0);
}

/** The point after so many of all windows' calls, and one. */
function pointIn(windows: readonly Window[], calls: number): number {
  let left = calls;
  for (const { from, until } of windows) {
    if (left < until - from) return from + left + 1;
    left -= until - from;
  }
  throw new RangeError(`there are no ${calls} calls in the windows`);
}
