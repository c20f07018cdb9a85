import type { JobMetricsReply } from "@resontech/contracts/http-jobs";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { ask } from "../../api/ask.ts";
import { Empty, Failure } from "../../ui/notice.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import styles from "./job-page.module.css";

const Chart = lazy(async () => ({ default: (await import("../../ui/chart/chart.tsx")).Chart }));

type Series = JobMetricsReply["series"][number];

/** One chart for each number that the job printed, one line for each site. */
export function Curves({ jobId }: { jobId: string }) {
  const metrics = useQuery({
    queryKey: ["job", jobId, "metrics"],
    queryFn: ({ signal }) => ask<JobMetricsReply>("GET", `/api/jobs/${jobId}/metrics`, { signal }),
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
            <figure key={title} className={styles["chart"]}>
              <figcaption>{title}</figcaption>
              <Chart
                title={title}
                lines={lines.map(({ site, points }) => ({ label: site, points }))}
              />
              <details>
                <summary>Last values</summary>
                <Table caption={title} columns={LAST} rows={lines} keyOf={({ site }) => site} />
              </details>
            </figure>
          ),
        )}
      </div>
    </Suspense>
  );
}

const LAST: Column<Series>[] = [
  { title: "Site", of: ({ site }) => site },
  { title: "At", of: ({ points }) => points.at(-1)?.[0] ?? "", isNumber: true },
  { title: "Last", of: ({ points }) => points.at(-1)?.[1] ?? "", isNumber: true },
  {
    title: "Least",
    of: ({ points }) => Math.min(...points.map(([, , least]) => least)),
    isNumber: true,
  },
  {
    title: "Greatest",
    of: ({ points }) => Math.max(...points.map(([, , , most]) => most)),
    isNumber: true,
  },
];
