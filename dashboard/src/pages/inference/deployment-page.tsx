import type { JobHistoryReply, JobMetricsReply } from "@resontech/contracts/http-jobs";
import { isTerminal } from "@resontech/contracts/job-states";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useLocation } from "wouter";
import { ask } from "../../api/ask.ts";
import { applyToDevices } from "../../live/apply-to-devices.ts";
import { applyToHistory } from "../../live/apply-to-job.ts";
import { useTopic } from "../../live/live.ts";
import { PageHead } from "../../ui/page-head.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Views } from "../../ui/views.tsx";
import { Devices } from "../job/devices.tsx";
import { Events } from "../job/events.tsx";
import { LazyLogs } from "../job/logs/lazy-logs.tsx";
import { CallIt } from "./call-it.tsx";
import { DeploymentHead } from "./deployment-head.tsx";
import { Figures } from "./figures.tsx";
import { ServingUse } from "./serving-use.tsx";

/** Does it answer; if not, what now? The views are the same in every state of a deployment. */
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
        <PageHead title={`Deployment ${id}`} above={<Link href="/inference">Inference</Link>} />
        <Failure error={deployment.error} retry={() => void deployment.refetch()} />
      </>
    );
  return (
    <>
      <DeploymentHead deployment={deployment.data} onChange={again} />
      {deployment.data.detail.state === "RUNNING" ? <Figures id={id} /> : null}
      <Views
        label="Views of the deployment"
        selected={tab}
        onSelect={(chosen) => go(`/inference/jobs/${id}/${chosen}`, { replace: true })}
        views={[
          ["call", "Call", <CallIt deployment={deployment.data} />],
          ["use", "Use", <ServingUse id={id} />],
          ["logs", "Logs", <LazyLogs id={id} isOver={isTerminal(deployment.data.detail.state)} />],
          ["gpu", "GPU", <Devices jobId={id} />],
          [
            "events",
            "Events",
            <>
              {history.isError ? (
                <Failure error={history.error} retry={() => void history.refetch()} />
              ) : null}
              {history.data === undefined ? <Skeleton /> : <Events events={history.data.events} />}
            </>,
          ],
        ]}
      />
    </>
  );
}
