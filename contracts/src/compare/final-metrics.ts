/** What each job had reached last, and which of them reached the best. Pure. */
import type { JobMetricsReply } from "../http/http-jobs.ts";

type Series = JobMetricsReply["series"];
/** `values` and `isBest` by job; a value is the mean over the job's sites. */
type MetricRow = { name: string; values: (number | null)[]; isBest: boolean[] };

const LESS_IS_BETTER = /loss|error|perplexity|(^|_)(mse|rmse|mae|ppl|wer|cer|nll)($|_)/i;
const MORE_IS_BETTER = /acc|auc|auroc|f1|precision|recall|score|dice|iou|bleu|r2/i;

export function finalMetrics(jobs: readonly Series[]): MetricRow[] {
  const names = [...new Set(jobs.flatMap((series) => series.map(({ name }) => name)))].sort();
  return names.map((name) => {
    const values = jobs.map((series) => lastMean(series.filter((one) => one.name === name)));
    const best = bestMetric(name, values);
    return { name, values, isBest: values.map((value) => value !== null && value === best) };
  });
}

function lastMean(series: Series): number | null {
  const last = series.flatMap(({ points }) => {
    const point = points.at(-1);
    return point === undefined ? [] : [point[1]];
  });
  return last.length === 0 ? null : last.reduce((sum, one) => sum + one, 0) / last.length;
}

/** Null where nobody knows which way is better, where one job alone has a value, and where all have the same. */
export function bestMetric(name: string, values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null).filter(Number.isFinite);
  if (new Set(known).size < 2) return null;
  if (LESS_IS_BETTER.test(name)) return Math.min(...known);
  return MORE_IS_BETTER.test(name) ? Math.max(...known) : null;
}
