/** Curves of several jobs laid over one another. Pure. */
import type { JobHistoryReply, JobMetricsReply } from "@resontech/contracts/http-jobs";
import { HUES } from "../../ui/chart/hues.ts";
import { alignedOf, type Line, type Plot } from "../../ui/chart/aligned-of.ts";

type Series = JobMetricsReply["series"][number];
type Point = Series["points"][number];
type ComparedRun = {
  label: string;
  metrics: Pick<JobMetricsReply, "series" | "began">;
  startedAt: string | null;
  /** When rounds ended; absent until somebody wants curves by time. */
  rounds: JobHistoryReply["rounds"];
};
type CurveChoice = { bySite: boolean; byTime: boolean };
type OverlaidFigure = { title: string; axis: Series["axis"]; plot: Plot };

/** One figure for each metric; what is of one job has one colour in all of them, and its sites have dashes of their own. */
export function overlaidFigures(
  runs: readonly ComparedRun[],
  { bySite, byTime }: CurveChoice,
): OverlaidFigure[] {
  const all = runs.flatMap((run, job) =>
    run.metrics.series.flatMap((series) => {
      const placed = byTime ? inTime(series, run) : series;
      return placed.points.length === 0 ? [] : [{ job, label: run.label, series: placed }];
    }),
  );
  const groups = Map.groupBy(all, ({ series }) => `${series.name} by ${series.axis}`);
  return [...groups].map(([title, found]) => {
    const lines = runs.flatMap((run, job) => {
      const own = found.filter((one) => one.job === job).map(({ series }) => series);
      return linesOf(run.label, own, bySite).map((line) => ({ ...line, job }));
    });
    const { places, curves } = alignedOf(lines);
    const sitesBefore = (at: number) => at - lines.findIndex(({ job }) => job === lines[at]!.job);
    const plot = {
      places,
      curves: curves.map((curve, at) => ({
        ...curve,
        hue: lines[at]!.job + HUES * sitesBefore(at),
      })),
    };
    return { title, axis: found[0]!.series.axis, plot };
  });
}

function linesOf(label: string, own: readonly Series[], bySite: boolean): Line[] {
  if (own.length === 0) return [];
  return bySite
    ? own.map(({ site, points }) => ({ label: `${label}, ${site}`, points }))
    : [{ label, points: meanOf(own.map(({ points }) => points)) }];
}

/** The mean of the sites that have a value at a place, between their least and their greatest. */
function meanOf(sites: readonly (readonly Point[])[]): Point[] {
  const at = Map.groupBy(sites.flat(), ([place]) => place);
  return [...at.entries()]
    .sort(([a], [b]) => a - b)
    .map(
      ([place, points]): Point => [
        place,
        points.reduce((sum, [, last]) => sum + last, 0) / points.length,
        Math.min(...points.map(([, , least]) => least)),
        Math.max(...points.map(([, , , most]) => most)),
      ],
    );
}

/** By seconds since the job started. Of a step or an epoch nobody knows when that was. */
function inTime(series: Series, { metrics, startedAt, rounds }: ComparedRun): Series {
  const from = startedAt === null ? null : Date.parse(startedAt);
  const placeOf = (place: number): number | null => {
    if (from === null) return null;
    if (series.axis === "seconds")
      return metrics.began === null ? null : (Date.parse(metrics.began) - from) / 1_000 + place;
    if (series.axis !== "round") return null;
    const round = rounds.findLast((one) => one.round === place);
    const at = round?.endedAt ?? round?.startedAt ?? null;
    return at === null ? null : (Date.parse(at) - from) / 1_000;
  };
  const points = series.points.flatMap(([place, ...values]): Point[] => {
    const second = placeOf(place);
    return second === null ? [] : [[Math.round(second), ...values]];
  });
  return { ...series, axis: "seconds", points: points.sort(([a], [b]) => a - b) };
}
