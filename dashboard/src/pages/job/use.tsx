import type { DashboardJobWithWorkers } from "@resontech/contracts/http-tasks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ask } from "../../api/ask.ts";
import { countOf } from "../../ui/count-of.ts";
import { zoneName } from "../../ui/instants.ts";
import { ChartFigure } from "../../ui/chart/chart-figure.tsx";
import { ChartGroup } from "../../ui/chart/chart-group.tsx";
import { RangeChoice } from "../../ui/chart/range-choice.tsx";
import { type Range, spanOf } from "../../ui/chart/ranges.ts";
import { Empty, Failure } from "../../ui/notice.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { figuresOfUse } from "./use-plots.ts";

const ASKED_EVERY_MS = 15_000;

/** What each member used, on one axis of time. */
export function Use({ job }: { job: DashboardJobWithWorkers }) {
  const [range, setRange] = useState<Range>("All");
  const from = Date.parse(job.startedAt ?? job.createdAt);
  const end = () => (job.endedAt === null ? Date.now() : Date.parse(job.endedAt));
  const use = useQuery({
    queryKey: ["job", job.jobId, "use", range],
    queryFn: ({ signal }) =>
      ask("GET", "/api/jobs/{id}/use", {
        params: { id: job.jobId },
        query: queryOf(spanOf(range, from, end())),
        signal,
      }),
    refetchInterval: job.endedAt === null ? ASKED_EVERY_MS : false,
  });
  if (use.isPending) return <Skeleton />;
  if (use.isError) return <Failure error={use.error} retry={() => void use.refetch()} />;
  const figures = figuresOfUse(use.data);
  const kept = `Times are of ${zoneName()}. Curves are kept for ${countOf(use.data.keptDays, "day")}.`;
  if (figures.length === 0)
    return (
      <Empty title="No curve of use">
        <p>
          {job.startedAt === null
            ? job.endedAt === null
              ? "The job has not started yet."
              : "The job ended before it started."
            : "Nothing was measured in this time, or the curves are gone."}{" "}
          {kept}
        </p>
      </Empty>
    );
  return (
    <ChartGroup
      tools={<RangeChoice range={range} onChoose={setRange} from={from} to={end()} />}
      about={kept}
    >
      {figures.map(({ measure, ...figure }) => (
        <ChartFigure key={measure} {...figure} of="Member" axis="time" />
      ))}
    </ChartGroup>
  );
}

/** @param span Unix milliseconds */
function queryOf(span: { from: number; to: number }) {
  return { from: Math.floor(span.from), to: Math.ceil(span.to) };
}
