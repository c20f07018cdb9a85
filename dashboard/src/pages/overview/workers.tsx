import { Failure } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { useWorkers } from "./use-workers.ts";
import styles from "./overview.module.css";

/** What there is to run on, by model: held, free and out of placement. */
export function Workers() {
  const stats = useWorkers();
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
            const [busy, free, out] = [count("busy"), count("free"), count("unavailable")];
            const told = `${busy} in use, ${free} free${out === 0 ? "" : `, ${out} out of placement`}`;
            return (
              <li key={model}>
                <strong>{model}</strong>
                <span className={styles["told"]}>{told}</span>
                <Bar busy={busy / workers.length} free={free / workers.length} />
              </li>
            );
          })}
        </ul>
      )}
    </Panel>
  );
}

/** Shares of one; what is left is out of placement. The words beside it say the same. */
function Bar({ busy, free }: { busy: number; free: number }) {
  return (
    <svg width="100%" height="10" aria-hidden="true" className={styles["bar"]}>
      <rect width="100%" height="10" data-part="out" />
      <rect width={`${(busy + free) * 100}%`} height="10" data-part="free" />
      <rect width={`${busy * 100}%`} height="10" data-part="busy" />
    </svg>
  );
}
