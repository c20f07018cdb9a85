/** Curves after a metric that came live, as the appliance's own reading makes them. Pure. */
import type { JobMetricsReply } from "@resontech/contracts/http-jobs";
import { metricLine } from "@resontech/contracts/metric-line";
import { withPoint } from "./with-point.ts";
import type { Told } from "./told.ts";

export function applyToMetrics(metrics: JobMetricsReply, { at, change }: Told): JobMetricsReply {
  if (change.kind !== "metric" || change.number <= metrics.upTo) return metrics;
  const began = metrics.began ?? at;
  const { axis, place, values } = metricLine(change.value);
  const where = place ?? (Date.parse(at) - Date.parse(began)) / 1000;
  let { series } = metrics;
  for (const [name, value] of values)
    series = withPoint(series, { site: change.site, name, axis }, [where, value, value, value]);
  return { series, began, upTo: change.number };
}
