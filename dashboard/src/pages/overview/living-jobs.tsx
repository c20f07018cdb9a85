import { Link } from "wouter";
import { useMay } from "../../api/session.ts";
import { Lasted } from "../../ui/instant.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { State } from "../../ui/state.tsx";
import { jobWord } from "../../ui/state-word.ts";
import { Table } from "../../ui/table.tsx";
import { whyOf } from "../jobs/why-of.ts";
import { useLivingJobs } from "./use-living-jobs.ts";

/** What waits, with the reason, and what runs. */
export function LivingJobs() {
  const maySubmit = useMay("job.submit");
  const jobs = useLivingJobs();
  if (jobs.isPending) return <Skeleton />;
  if (jobs.isError) return <Failure error={jobs.error} retry={() => void jobs.refetch()} />;
  return (
    <Panel
      title="Jobs that wait and run"
      aside={
        <>
          <Link href="/queue">When they start</Link> · <Link href="/jobs">All jobs</Link>
        </>
      }
    >
      {jobs.data.jobs.length === 0 ? (
        <p>
          Nothing waits and nothing runs.{" "}
          {maySubmit ? <Link href="/submit">Submit a job</Link> : null}
        </p>
      ) : (
        <Table
          caption="Jobs that wait and run"
          rows={jobs.data.jobs}
          keyOf={({ id }) => id}
          columns={[
            { title: "State", narrow: "below", of: ({ state }) => <State of={jobWord(state)} /> },
            {
              title: "Job",
              narrow: "main",
              of: ({ id, name }) => <Link href={`/jobs/${id}`}>{name}</Link>,
            },
            { title: "Why, or where", narrow: "below", of: whyOf },
            { title: "Owner", of: ({ owner }) => owner },
            { title: "For", of: ({ since }) => <Lasted from={since} to={null} />, isNumber: true },
          ]}
        />
      )}
    </Panel>
  );
}
