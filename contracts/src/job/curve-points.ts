/** Curves of bounded length. Pure. */

/** `[at, last, min, max]` of points that came one after another. */
export type CurvePoint = [at: number, last: number, min: number, max: number];

/** A curve has at most so many; an even number. */
export const MAX_CURVE_POINTS = 400;

/** Half as many, each of two neighbours. */
export function halved(points: readonly CurvePoint[]): CurvePoint[] {
  const half: CurvePoint[] = [];
  for (let at = 0; at < points.length; at += 2) {
    const [first, second] = [points[at]!, points[at + 1] ?? points[at]!];
    const [place, last] = second;
    half.push([place, last, Math.min(first[2], second[2]), Math.max(first[3], second[3])]);
  }
  return half;
}
