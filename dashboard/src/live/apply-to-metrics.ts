/** Curves after a metric that came live. Pure; the names of axes are those of the appliance's own reading. */
import type { JobMetricsReply } from "@resontech/contracts/http-jobs";
import type { Told } from "./told.ts";

const AXES = ["step", "epoch", "round"] as const;

export function applyToMetrics(metrics: JobMetricsReply, { at, change }: Told): JobMetricsReply {
  if (change.kind !== "metric" || change.number <= metrics.upTo) return metrics;
  const numbers = numbersOf(change.value);
  const axis = AXES.find((name) => name in numbers) ?? "seconds";
  const began = metrics.began ?? at;
  const place = axis === "seconds" ? (Date.parse(at) - Date.parse(began)) / 1000 : numbers[axis]!;
  let { series } = metrics;
  for (const [name, value] of Object.entries(numbers)) {
    if (AXES.some((one) => one === name)) continue;
    const isIt = (one: (typeof series)[number]) =>
      one.site === change.site && one.name === name && one.axis === axis;
    const point: [number, number, number, number] = [place, value, value, value];
    series = series.some(isIt)
      ? series.map((one) => (isIt(one) ? { ...one, points: [...one.points, point] } : one))
      : [...series, { site: change.site, name, axis, points: [point] }];
  }
  return { series, began, upTo: change.number };
}

function numbersOf(value: string): Record<string, number> {
  try {
    const parsed: unknown = JSON.parse(value);
    if (typeof parsed !== "object" || parsed === null) return {};
    return Object.fromEntries(
      Object.entries(parsed).filter(
        (entry): entry is [string, number] => typeof entry[1] === "number",
      ),
    );
  } catch {
    return {};
  }
}
