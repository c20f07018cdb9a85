import { useQuery } from "@tanstack/react-query";
import { ask } from "../../api/ask.ts";
import { useMay } from "../../api/session.ts";
import { Failure } from "../../ui/notice.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { HolderTable } from "./holder-table.tsx";
import { startErrorsSentence } from "../../ui/start-sentence.ts";
import { Calendar } from "./calendar.tsx";
import { Pools } from "./pools.tsx";
import { Shares } from "./shares.tsx";
import { WaitingJobs } from "./waiting-jobs.tsx";

const ASKED_EVERY_MS = 10_000;

/** Who waits for what, until when, and whose the workers are. */
export function QueuePage() {
  const seesJobs = useMay("job.state.list");
  const seesShares = useMay("share.read");
  const seesPools = useMay("pool.read");
  return (
    <>
      <PageHead title="Queue">
        What waits for workers and when it is expected to start, who holds them, and whose they are.
      </PageHead>
      {seesJobs ? <Line /> : null}
      {seesPools ? <Calendar /> : null}
      {seesPools ? <Pools /> : null}
      {seesShares ? <Shares /> : null}
    </>
  );
}

function Line() {
  const queue = useQuery({
    queryKey: ["queue"],
    queryFn: ({ signal }) => ask("GET", "/api/queue", { signal }),
    refetchInterval: ASKED_EVERY_MS,
  });
  if (queue.isPending) return <Skeleton rows={4} />;
  if (queue.isError && queue.data === undefined)
    return <Failure error={queue.error} retry={() => void queue.refetch()} />;
  const { jobs, holders, startErrors } = queue.data;
  const trust = jobs.length === 0 ? null : startErrorsSentence(startErrors);
  return (
    <>
      <Panel title="Waiting">
        <WaitingJobs jobs={jobs} />
        {trust === null ? null : <p>{trust}</p>}
      </Panel>
      <Panel title="Who holds workers now">
        {holders.length === 0 ? <p>Nobody holds a worker.</p> : <HolderTable holders={holders} />}
      </Panel>
    </>
  );
}
