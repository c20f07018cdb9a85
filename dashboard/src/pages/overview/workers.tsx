import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ask } from "../../api/ask.ts";
import { useTopic } from "../../live/live.ts";
import { Failure } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import styles from "./overview.module.css";

/** A large fleet is much to read: not for each job that moves. */
const READ_EVERY_MS = 15_000;

const queryKey = ["workers"];

/** What there is to run on, by model: held, free and out of placement. */
export function Workers() {
  const client = useQueryClient();
  const stats = useQuery({
    queryKey,
    queryFn: ({ signal }) => ask("GET", "/api/customer/dashboard/workers/stats", { signal }),
  });
  const readAt = stats.dataUpdatedAt;
  useTopic(
    { kind: "jobs" },
    (told) => {
      const moved = told.some(({ change }) => change.kind === "job");
      if (moved && Date.now() - readAt > READ_EVERY_MS) void client.invalidateQueries({ queryKey });
    },
    () => void client.invalidateQueries({ queryKey }),
  );
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
