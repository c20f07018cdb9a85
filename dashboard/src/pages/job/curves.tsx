import { useQuery } from "@tanstack/react-query";
import { Suspense } from "react";
import { ask } from "../../api/ask.ts";
import { Empty, Failure } from "../../ui/notice.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { CurveFigure } from "./curve-figure.tsx";
import styles from "./job-page.module.css";

/** One chart for each number that the job printed, one line for each site. */
export function Curves({ jobId }: { jobId: string }) {
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
      <Empty title="No curve yet">
        <p>
          A script prints a metric as one JSON line:{" "}
          <code>{'RT_METRIC {"round": 1, "loss": 0.5}'}</code>. The curve appears here at once.
        </p>
      </Empty>
    );
  return (
    <Suspense fallback={<Skeleton />}>
      <div className={styles["charts"]}>
        {[...Map.groupBy(series, ({ name, axis }) => `${name} by ${axis}`)].map(
          ([title, lines]) => (
            <CurveFigure
              key={title}
              title={title}
              of="Site"
              lines={lines.map(({ site, points }) => ({ label: site, points }))}
            />
          ),
        )}
      </div>
    </Suspense>
  );
}
