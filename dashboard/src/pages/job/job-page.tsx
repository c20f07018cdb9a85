import type { JobHistoryReply, JobMetricsReply } from "@resontech/contracts/http-jobs";
import type { DashboardJobWithWorkers } from "@resontech/contracts/http-tasks";
import { isTerminal } from "@resontech/contracts/job-states";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { Link, useLocation } from "wouter";
import { ask } from "../../api/ask.ts";
import { applyToHistory, applyToJob, isTold } from "../../live/apply-to-job.ts";
import { applyToDevices } from "../../live/apply-to-devices.ts";
import { applyToMetrics } from "../../live/apply-to-metrics.ts";
import { useTopic } from "../../live/live.ts";
import { Failure } from "../../ui/notice.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Curves } from "./curves.tsx";
import { Devices } from "./devices.tsx";
import { Events } from "./events.tsx";
import { Files } from "./files.tsx";
import { Inputs } from "./inputs.tsx";
import { JobHead } from "./job-head.tsx";
import { Logs } from "./logs/logs.tsx";
import { Rounds } from "./rounds.tsx";
import styles from "./job-page.module.css";

/** The same in every state of a job. */
const TABS = [
  ["rounds", "Rounds"],
  ["curves", "Curves"],
  ["gpu", "GPU"],
  ["events", "Events"],
  ["logs", "Logs"],
  ["files", "Files"],
  ["inputs", "Inputs"],
] as const;

/** Is it well; if not, what now? */
export function JobPage({ id, tab }: { id: string; tab: string }) {
  const client = useQueryClient();
  const [, go] = useLocation();
  const keys = {
    job: ["job", id],
    history: ["job", id, "history"],
    metrics: ["job", id, "metrics"],
    devices: ["job", id, "devices"],
  } as const;
  const job = useQuery({
    queryKey: keys.job,
    queryFn: ({ signal }) =>
      ask("GET", "/api/customer/dashboard/jobs/{id}", { params: { id }, signal }),
  });
  const history = useQuery({
    queryKey: keys.history,
    queryFn: ({ signal }) => ask("GET", "/api/jobs/{id}/history", { params: { id }, signal }),
  });
  useTopic(
    { kind: "job", job: id },
    (told) => {
      client.setQueryData<DashboardJobWithWorkers>(keys.job, (old) =>
        old === undefined ? old : told.reduce(applyToJob, old),
      );
      client.setQueryData<JobHistoryReply>(keys.history, (old) =>
        old === undefined ? old : told.reduce(applyToHistory, old),
      );
      client.setQueryData<JobMetricsReply>(keys.metrics, (old) =>
        old === undefined ? old : told.reduce(applyToMetrics, old),
      );
      client.setQueryData<JobMetricsReply>(keys.devices, (old) =>
        old === undefined ? old : told.reduce(applyToDevices, old),
      );
      if (!told.every(isTold)) void client.invalidateQueries({ queryKey: keys.job, exact: true });
      if (told.some(({ change }) => change.kind === "member-added"))
        void client.invalidateQueries({ queryKey: keys.history });
      if (
        told.some(({ change }) => change.kind === "output" || change.kind === "outputs-removed")
      ) {
        void client.invalidateQueries({ queryKey: ["job", id, "files"] });
        // The model of one that was cancelled comes after its end.
        void client.invalidateQueries({ queryKey: keys.job, exact: true });
      }
    },
    () => void client.invalidateQueries({ queryKey: keys.job }),
  );

  if (job.isPending) return <Skeleton />;
  if (job.isError && job.data === undefined)
    return (
      <>
        <Link href="/jobs">Jobs</Link>
        <h1>Job {id}</h1>
        <Failure error={job.error} retry={() => void job.refetch()} />
      </>
    );
  const events = history.data;
  return (
    <>
      <JobHead job={job.data} />
      <Tabs
        className={styles["tabs"] ?? ""}
        selectedKey={tab}
        onSelectionChange={(chosen) => go(`/jobs/${id}/${String(chosen)}`, { replace: true })}
      >
        <TabList aria-label="Views of the job" className={styles["list"] ?? ""}>
          {TABS.map(([key, title]) => (
            <Tab key={key} id={key} className={styles["tab"] ?? ""}>
              {title}
            </Tab>
          ))}
        </TabList>
        <TabPanel id="rounds" className={styles["panel"] ?? ""}>
          {history.isError ? (
            <Failure error={history.error} retry={() => void history.refetch()} />
          ) : null}
          {events === undefined ? <Skeleton /> : <Rounds job={job.data} history={events} />}
        </TabPanel>
        <TabPanel id="curves" className={styles["panel"] ?? ""}>
          <Curves jobId={id} />
        </TabPanel>
        <TabPanel id="gpu" className={styles["panel"] ?? ""}>
          <Devices jobId={id} />
        </TabPanel>
        <TabPanel id="events" className={styles["panel"] ?? ""}>
          {events === undefined ? <Skeleton /> : <Events events={events.events} />}
        </TabPanel>
        <TabPanel id="logs" className={styles["panel"] ?? ""}>
          <Logs id={id} isOver={isTerminal(job.data.detail.state)} />
        </TabPanel>
        <TabPanel id="files" className={styles["panel"] ?? ""}>
          <Files
            jobId={id}
            project={events?.projectId}
            isOver={isTerminal(job.data.detail.state)}
          />
        </TabPanel>
        <TabPanel id="inputs" className={styles["panel"] ?? ""}>
          <Inputs jobId={id} />
        </TabPanel>
      </Tabs>
    </>
  );
}
