import { isTerminal } from "@resontech/contracts/job-states";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { ask } from "../../api/ask.ts";
import { useSession } from "../../api/session.ts";
import { Ago } from "../../ui/instant.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { State } from "../../ui/state.tsx";
import { jobWord } from "../../ui/state-word.ts";
import { Table } from "../../ui/table.tsx";
import { whyOf } from "../jobs/why-of.ts";

const SHOWN = 6;

/** How the person's own jobs ended. */
export function OwnJobs() {
  const { user } = useSession();
  const jobs = useQuery({
    queryKey: ["jobs", "ended"],
    queryFn: ({ signal }) =>
      ask("GET", "/api/jobs", {
        query: { state: "finished,failed,timed-out,cancelled", limit: 50 },
        signal,
      }),
  });
  if (jobs.isPending) return <Skeleton rows={3} />;
  if (jobs.isError) return <Failure error={jobs.error} retry={() => void jobs.refetch()} />;
  const own = jobs.data.jobs
    .filter(({ owner, state }) => owner === user.username && isTerminal(state))
    .slice(0, SHOWN);
  return (
    <Panel title="Your jobs that ended">
      {own.length === 0 ? (
        <p>None yet.</p>
      ) : (
        <Table
          caption="Your jobs that ended, newest first"
          rows={own}
          keyOf={({ id }) => id}
          columns={[
            { title: "State", narrow: "below", of: ({ state }) => <State of={jobWord(state)} /> },
            {
              title: "Job",
              narrow: "main",
              of: ({ id, name }) => <Link href={`/jobs/${id}`}>{name}</Link>,
            },
            { title: "Why", narrow: "below", of: whyOf },
            {
              title: "Ended",
              of: ({ endedAt }) => (endedAt === null ? "" : <Ago at={endedAt} />),
              isNumber: true,
            },
          ]}
        />
      )}
    </Panel>
  );
}
