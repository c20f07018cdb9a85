/** When alerts held, from the looks at which they did. Pure. */
import type { PastAlertsReply } from "@resontech/contracts/http-host-history";
import type { TimeAxis } from "./time-axis.ts";
import type { RangeSeries } from "./use-series.ts";

type PastAlert = PastAlertsReply["alerts"][number];

/** Labels that say the same of every alert here. */
const SILENT = new Set(["__name__", "alertname", "alertstate", "severity", "instance"]);

/** An alert that was gone for one look is told as another. @returns those that began last first */
export function pastAlerts(told: readonly RangeSeries[], { toS, stepS }: TimeAxis): PastAlert[] {
  return told
    .flatMap(({ metric, values }) =>
      runsOf(
        values.map(([second]) => second),
        stepS,
      ).map(([first, last]) => ({
        alert: metric["alertname"] ?? "",
        severity: metric["severity"] ?? "warning",
        about: aboutOf(metric),
        from: instant(first),
        // What held at the last look holds.
        to: last >= toS ? null : instant(last + stepS),
      })),
    )
    .toSorted((a, b) => (a.from < b.from ? 1 : a.from > b.from ? -1 : 0));
}

function aboutOf(metric: RangeSeries["metric"]): string {
  return Object.entries(metric)
    .filter(([label]) => !SILENT.has(label))
    .map(([label, value]) => `${label.replace(/^exported_/, "")}: ${value}`)
    .toSorted()
    .join(", ");
}

/** Looks that follow one another, as the first and the last of each run. */
function runsOf(seconds: readonly number[], stepS: number): [first: number, last: number][] {
  const runs: [number, number][] = [];
  for (const second of seconds) {
    const run = runs.at(-1);
    if (run !== undefined && second - run[1] <= 1.5 * stepS) run[1] = second;
    else runs.push([second, second]);
  }
  return runs;
}

function instant(second: number): string {
  return new Date(second * 1_000).toISOString();
}
