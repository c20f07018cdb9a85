/** Where the next point of a curve goes, so that a curve of any length has a bounded number of buckets. Pure. */
import { MAX_CURVE_POINTS } from "@resontech/contracts/curve-points";

/** `width`: points that a full bucket has; `inLast`: points of the last one. */
export type CurveHead = { width: number; buckets: number; inLast: number };

/**
 * `extend`: the point joins the last bucket; `append`: it begins one; `halve`: two neighbours become one all along, then it begins one.
 * @property head after it
 */
export type CurveStep = { kind: "extend" | "append" | "halve"; head: CurveHead };

export const EMPTY_CURVE: CurveHead = { width: 1, buckets: 0, inLast: 0 };

export function curveStep({ width, buckets, inLast }: CurveHead): CurveStep {
  if (buckets > 0 && inLast < width)
    return { kind: "extend", head: { width, buckets, inLast: inLast + 1 } };
  if (buckets < MAX_CURVE_POINTS)
    return { kind: "append", head: { width, buckets: buckets + 1, inLast: 1 } };
  return { kind: "halve", head: { width: width * 2, buckets: buckets / 2 + 1, inLast: 1 } };
}
