import type { JobHistoryReply, JobMetricsReply } from "@resontech/contracts/http-jobs";
import type { DashboardJobWithWorkers } from "@resontech/contracts/http-tasks";
import { isTerminal } from "@resontech/contracts/job-states";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { Link, useLocation } from "wouter";
import { ask } from "../../api/ask.ts";
import { applyToHistory, applyToJob, isTold } from "../../live/apply-to-job.ts";
import { applyToDevices } from "../../live/apply-to-devices.ts";
import { applyToMetrics } from "../../live/apply-to-metrics.ts";
import { useTopic } from "../../live/live.ts";
import { LoadedChart } from "../../ui/chart/loaded-chart.tsx";
import { loadedComponent } from "../../ui/loaded-component.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Views } from "../../ui/views.tsx";
import { Curves } from "./curves.tsx";
import { Devices } from "./devices.tsx";
import { hasMemberEnded } from "./ends-of.ts";
import { Events } from "./events.tsx";
import { Inputs } from "./inputs.tsx";
import { JobHead } from "./job-head.tsx";
import { LazyLogs } from "./logs/lazy-logs.tsx";
import { PlacePanel } from "./place-panel.tsx";
import { Rounds } from "./rounds.tsx";
import { Use } from "./use.tsx";
import { WaitPanel } from "./wait-panel.tsx";

/** No part of the first load. */
const Files = loadedComponent(async () => (await import("./files/files.tsx")).Files);

/** Is it well; if not, what now? The views are the same in every state of a job. */
export function JobPage({ id, tab }: { id: string; tab: string }) {
  const client = useQueryClient();
  const [, go] = useLocation();
  // Most who look at a job open its log, its curves and its files: what draws them is there by then.
  useEffect(() => {
    void Files.preload();
    void LazyLogs.preload();
    void LoadedChart.preload();
  }, []);
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
      // How a member ended is told with the job.
      if (told.some(({ change }) => change.kind === "member" && hasMemberEnded(change.to)))
        void client.invalidateQueries({ queryKey: keys.job, exact: true });
      // Whose updates a round took stands in its rows alone.
      const isReadAgain = told.some(
        ({ change }) =>
          change.kind === "member-added" || (change.kind === "round" && change.phase === "ended"),
      );
      if (isReadAgain) void client.invalidateQueries({ queryKey: keys.history });
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
        <PageHead title={`Job ${id}`} above={<Link href="/jobs">Jobs</Link>} />
        <Failure error={job.error} retry={() => void job.refetch()} />
      </>
    );
  const events = history.data;
  const isOver = isTerminal(job.data.detail.state);
  return (
    <>
      <JobHead job={job.data} />
      {job.data.detail.state === "QUEUED" ? <WaitPanel id={id} /> : null}
      <Views
        label="Views of the job"
        selected={tab}
        onSelect={(chosen) => go(`/jobs/${id}/${chosen}`, { replace: true })}
        views={[
          [
            "rounds",
            "Rounds",
            <>
              {history.isError ? (
                <Failure error={history.error} retry={() => void history.refetch()} />
              ) : null}
              {events === undefined ? <Skeleton /> : <Rounds job={job.data} history={events} />}
            </>,
          ],
          ["curves", "Curves", <Curves jobId={id} history={events} isOver={isOver} />],
          [
            "use",
            "Use",
            <>
              <Use job={job.data} />
              {isOver ? null : <PlacePanel id={id} />}
            </>,
          ],
          ["gpu", "GPU", <Devices jobId={id} />],
          [
            "events",
            "Events",
            events === undefined ? <Skeleton /> : <Events events={events.events} />,
          ],
          ["logs", "Logs", <LazyLogs id={id} isOver={isOver} />],
          [
            "files",
            "Files",
            <Files
              jobId={id}
              jobName={job.data.jobName}
              project={events?.projectId}
              isOver={isOver}
            />,
          ],
          ["inputs", "Inputs", <Inputs jobId={id} />],
        ]}
      />
    </>
  );
}
