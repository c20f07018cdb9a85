/** From the lines that a job printed to curves of bounded length. Pure. */
import type { JobMetricsReply } from "@resontech/contracts/http-jobs";

type Series = JobMetricsReply["series"][number];
type Point = Series["points"][number];
/** @property value the JSON that the job printed @property at Unix milliseconds */
export type Metric = { site: string; value: string; at: number };

/** What a job may call the place of a point, nearest first. */
const AXES = ["step", "epoch", "round"] as const;
const MAX_SERIES = 256;
const MAX_POINTS = 500;
const MAX_NAME = 64;

/** One curve for each site and each number that has a name. */
export function seriesOf(metrics: readonly Metric[]): Series[] {
  const series = new Map<string, { of: Omit<Series, "points">; raw: [number, number][] }>();
  const first = metrics[0]?.at ?? 0;
  for (const { site, value, at } of metrics) {
    const numbers = numbersOf(value);
    const axis = AXES.find((name) => name in numbers) ?? "seconds";
    const place = axis === "seconds" ? (at - first) / 1000 : numbers[axis]!;
    for (const [name, number] of Object.entries(numbers)) {
      if (AXES.some((one) => one === name)) continue;
      const key = JSON.stringify([site, name, axis]);
      const found = series.get(key);
      if (found !== undefined) found.raw.push([place, number]);
      else if (series.size < MAX_SERIES)
        series.set(key, { of: { site, name, axis }, raw: [[place, number]] });
    }
  }
  return [...series.values()].map(({ of, raw }) => ({ ...of, points: thinned(raw) }));
}

function numbersOf(value: string): Record<string, number> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(value);
  } catch {
    return {};
  }
  if (typeof parsed !== "object" || parsed === null) return {};
  return Object.fromEntries(
    Object.entries(parsed).filter(
      (entry): entry is [string, number] =>
        entry[0].length <= MAX_NAME && typeof entry[1] === "number" && Number.isFinite(entry[1]),
    ),
  );
}

/** Neighbours share a point where there are too many; its least and greatest stay. */
function thinned(raw: readonly [number, number][]): Point[] {
  const sorted = [...raw].sort(([a], [b]) => a - b);
  const each = Math.ceil(sorted.length / MAX_POINTS);
  const points: Point[] = [];
  for (let from = 0; from < sorted.length; from += each) {
    const part = sorted.slice(from, from + each);
    const [at, last] = part.at(-1)!;
    const values = part.map(([, value]) => value);
    points.push([at, last, Math.min(...values), Math.max(...values)]);
  }
  return points;
}
