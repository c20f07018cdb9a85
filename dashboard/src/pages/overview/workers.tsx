import type { WorkerStatsReply } from "@resontech/contracts/http-tasks";
import { useQuery } from "@tanstack/react-query";
import { ask } from "../../api/ask.ts";
import { Failure } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import styles from "./overview.module.css";

const ASKED_EVERY_MS = 15_000;

/** What there is to run on, by model: held, free and out of placement. */
export function Workers() {
  const stats = useQuery({
    queryKey: ["workers"],
    queryFn: ({ signal }) =>
      ask<WorkerStatsReply>("GET", "/api/customer/dashboard/workers/stats", { signal }),
    refetchInterval: ASKED_EVERY_MS,
  });
  if (stats.isPending) return <Skeleton rows={2} />;
  if (stats.isError) return <Failure error={stats.error} retry={() => void stats.refetch()} />;
  const models = [...Map.groupBy(stats.data.workers, ({ model }) => model)];
  return (
    <Panel title="Workers">
      {models.length === 0 ? (
        <p>No node has joined yet. An administrator joins the first one on the page Nodes.</p>
      ) : (
        <ul className={styles["models"]}>
          {models.map(([model, workers]) => {
            const count = (status: string) =>
              workers.filter((worker) => worker.status === status).length;
            return (
              <li key={model}>
                <strong>{model}</strong>
                <meter
                  min={0}
                  max={workers.length}
                  value={count("busy")}
                  aria-label={`${model}: ${count("busy")} of ${workers.length} held`}
                />
                <span>
                  {count("busy")} held, {count("free")} free
                  {count("unavailable") === 0 ? "" : `, ${count("unavailable")} out of placement`}
                </span>
              </li>
            );
          })}
        </ul>
      )}
    </Panel>
  );
}
