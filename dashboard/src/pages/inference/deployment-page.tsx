import type { JobHistoryReply, JobMetricsReply } from "@resontech/contracts/http-jobs";
import { isTerminal } from "@resontech/contracts/job-states";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { Link, useLocation } from "wouter";
import { ask } from "../../api/ask.ts";
import { applyToDevices } from "../../live/apply-to-devices.ts";
import { applyToHistory } from "../../live/apply-to-job.ts";
import { useTopic } from "../../live/live.ts";
import { Failure } from "../../ui/notice.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Devices } from "../job/devices.tsx";
import { Events } from "../job/events.tsx";
import styles from "../job/job-page.module.css";
import { Logs } from "../job/logs/logs.tsx";
import { CallIt } from "./call-it.tsx";
import { DeploymentHead } from "./deployment-head.tsx";
import { Figures } from "./figures.tsx";

/** The same in every state of a deployment. */
const TABS = [
  ["call", "Call"],
  ["logs", "Logs"],
  ["gpu", "GPU"],
  ["events", "Events"],
] as const;

/** Does it answer; if not, what now? */
export function DeploymentPage({ id, tab }: { id: string; tab: string }) {
  const client = useQueryClient();
  const [, go] = useLocation();
  const queryKey = ["deployment", id];
  const historyKey = ["job", id, "history"];
  const deployment = useQuery({
    queryKey,
    queryFn: ({ signal }) => ask("GET", "/api/inference/jobs/{id}", { params: { id }, signal }),
  });
  const history = useQuery({
    queryKey: historyKey,
    queryFn: ({ signal }) => ask("GET", "/api/jobs/{id}/history", { params: { id }, signal }),
  });
  const again = () => void client.invalidateQueries({ queryKey });
  useTopic(
    { kind: "job", job: id },
    (told) => {
      client.setQueryData<JobHistoryReply>(historyKey, (old) =>
        old === undefined ? old : told.reduce(applyToHistory, old),
      );
      client.setQueryData<JobMetricsReply>(["job", id, "devices"], (old) =>
        old === undefined ? old : told.reduce(applyToDevices, old),
      );
      if (told.some(({ change }) => change.kind === "member-added"))
        void client.invalidateQueries({ queryKey: historyKey });
      // What devices do changes nothing else, and comes all the time.
      if (told.some(({ change }) => change.kind !== "device-use")) again();
    },
    () => {
      again();
      void client.invalidateQueries({ queryKey: historyKey });
    },
  );
  if (deployment.isPending) return <Skeleton />;
  if (deployment.isError && deployment.data === undefined)
    return (
      <>
        <Link href="/inference">Inference</Link>
        <h1>Deployment {id}</h1>
        <Failure error={deployment.error} retry={() => void deployment.refetch()} />
      </>
    );
  return (
    <>
      <DeploymentHead deployment={deployment.data} onChange={again} />
      {deployment.data.detail.state === "RUNNING" ? <Figures id={id} /> : null}
      <Tabs
        className={styles["tabs"] ?? ""}
        selectedKey={tab}
        onSelectionChange={(chosen) =>
          go(`/inference/jobs/${id}/${String(chosen)}`, { replace: true })
        }
      >
        <TabList aria-label="Views of the deployment" className={styles["list"] ?? ""}>
          {TABS.map(([key, title]) => (
            <Tab key={key} id={key} className={styles["tab"] ?? ""}>
              {title}
            </Tab>
          ))}
        </TabList>
        <TabPanel id="call" className={styles["panel"] ?? ""}>
          <CallIt deployment={deployment.data} />
        </TabPanel>
        <TabPanel id="logs" className={styles["panel"] ?? ""}>
          <Logs id={id} isOver={isTerminal(deployment.data.detail.state)} />
        </TabPanel>
        <TabPanel id="gpu" className={styles["panel"] ?? ""}>
          <Devices jobId={id} />
        </TabPanel>
        <TabPanel id="events" className={styles["panel"] ?? ""}>
          {history.isError ? (
            <Failure error={history.error} retry={() => void history.refetch()} />
          ) : null}
          {history.data === undefined ? <Skeleton /> : <Events events={history.data.events} />}
        </TabPanel>
      </Tabs>
    </>
  );
}
