import type { JobHistoryReply } from "@resontech/contracts/http-jobs";
import { useQuery } from "@tanstack/react-query";
import { ask } from "../../api/ask.ts";
import { alignedOf } from "../../ui/chart/aligned-of.ts";
import type { ChartMark } from "../../ui/chart/chart.tsx";
import { ChartFigure } from "../../ui/chart/chart-figure.tsx";
import { ChartGroup } from "../../ui/chart/chart-group.tsx";
import { Empty, Failure } from "../../ui/notice.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";

/** One chart for each number that the job printed, one line for each site. */
export function Curves({
  jobId,
  history,
  isOver,
}: {
  jobId: string;
  isOver: boolean;
  history: JobHistoryReply | undefined;
}) {
  const metrics = useQuery({
    queryKey: ["job", jobId, "metrics"],
    queryFn: ({ signal }) =>
      ask("GET", "/api/jobs/{id}/metrics", { params: { id: jobId }, signal }),
  });
  if (metrics.isPending) return <Skeleton />;
  if (metrics.isError)
    return <Failure error={metrics.error} retry={() => void metrics.refetch()} />;
  const { series } = metrics.data;
  if (series.length === 0)
    return (
      <Empty title={isOver ? "No curve" : "No curve yet"}>
        <p>
          A script prints a metric as one JSON line:{" "}
          <code>{'RT_METRIC {"round": 1, "loss": 0.5}'}</code>.{" "}
          {isOver ? "This job printed none." : "The curve appears here at once."}
        </p>
      </Empty>
    );
  return (
    <ChartGroup>
      {[...Map.groupBy(series, ({ name, axis }) => `${name} by ${axis}`)].map(([title, lines]) => {
        const axis = lines[0]!.axis;
        return (
          <ChartFigure
            key={title}
            title={title}
            of="Site"
            unit="number"
            axis={axis === "seconds" ? "number" : "whole"}
            axisName={axis}
            plot={alignedOf(lines.map(({ site, points }) => ({ label: site, points })))}
            marks={axis === "round" ? (history?.rounds ?? []).flatMap(markOf) : []}
          />
        );
      })}
    </ChartGroup>
  );
}

/** From such a round on every curve lies. */
function markOf({ round, isFinite }: JobHistoryReply["rounds"][number]): ChartMark[] {
  return isFinite === false ? [{ at: round, label: "NaN" }] : [];
}
