import type { QueuedJob } from "@resontech/contracts/http-queue";
import { Link } from "wouter";
import { useMay } from "../../api/session.ts";
import { Lasted } from "../../ui/instant.tsx";
import { LinkButton } from "../../ui/link-button.tsx";
import { startSentence } from "../../ui/start-sentence.ts";
import { type Column, Table } from "../../ui/table.tsx";
import { waitingSentence } from "../../ui/waiting-sentence.ts";

const COLUMNS: Column<QueuedJob>[] = [
  {
    title: "Place",
    of: ({ place }) => (place === null ? "held" : place),
    by: ({ place }) => place,
    isNumber: true,
  },
  {
    title: "Job",
    narrow: "main",
    // Whoever runs the box sees no page of a job.
    of: ({ id, name }) =>
      name === null ? <code>{id}</code> : <Link href={`/jobs/${id}`}>{name}</Link>,
    by: ({ id, name }) => name ?? id,
  },
  {
    title: "Class",
    narrow: "below",
    of: ({ jobClass }) => jobClass,
    by: ({ jobClass }) => jobClass,
  },
  {
    title: "Expected start",
    narrow: "below",
    of: (job) => startSentence(job, Date.now()),
    by: ({ expectedStart }) => expectedStart,
  },
  {
    title: "Waits",
    narrow: "below",
    of: ({ since }) => <Lasted from={since} to={null} />,
    by: ({ since }) => since,
  },
  { title: "For", of: ({ waitingFor }) => waitingSentence(waitingFor) ?? "" },
  { title: "By", of: ({ owner }) => owner ?? "", by: ({ owner }) => owner },
];

/** What waits, in line. */
export function WaitingJobs({ jobs }: { jobs: readonly QueuedJob[] }) {
  const maySubmit = useMay("job.submit");
  if (jobs.length === 0)
    return (
      <>
        <p>No job waits.</p>
        {maySubmit ? (
          <p>
            <LinkButton href="/submit">Submit a job</LinkButton>
          </p>
        ) : null}
      </>
    );
  return <Table caption="Waiting jobs" columns={COLUMNS} rows={jobs} keyOf={({ id }) => id} />;
}
