/** Curves of bounded length with one point more. Pure. */
import { type CurvePoint, halved, MAX_CURVE_POINTS } from "@resontech/contracts/curve-points";
import type { JobMetricsReply } from "@resontech/contracts/http-jobs";

type Series = JobMetricsReply["series"];

export function withPoint(
  series: Series,
  of: Omit<Series[number], "points">,
  point: CurvePoint,
): Series {
  const isIt = ({ site, name, axis }: Series[number]) =>
    site === of.site && name === of.name && axis === of.axis;
  if (!series.some(isIt)) return [...series, { ...of, points: [point] }];
  return series.map((one) =>
    isIt(one) ? { ...one, points: bounded([...one.points, point]) } : one,
  );
}

/** What came live is finer than what was read, until it is too much. */
function bounded(points: CurvePoint[]): CurvePoint[] {
  return points.length > 2 * MAX_CURVE_POINTS ? halved(points) : points;
}
