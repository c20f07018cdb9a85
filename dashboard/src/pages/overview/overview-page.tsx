import type { JobListReply } from "@resontech/contracts/http-jobs";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "wouter";
import { ask } from "../../api/ask.ts";
import { useMay } from "../../api/session.ts";
import { applyToRow } from "../../live/apply-to-list.ts";
import { useTopic } from "../../live/live.ts";
import { Lasted } from "../../ui/instant.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { State } from "../../ui/state.tsx";
import { jobWord } from "../../ui/state-word.ts";
import { Table } from "../../ui/table.tsx";
import { whyOf } from "../jobs/why-of.ts";
import { useAppliance } from "../appliance/use-appliance.ts";
import { FindingList } from "../appliance/finding-list.tsx";
import { Account } from "./account.tsx";
import { Workers } from "./workers.tsx";

/** What runs, what waits and why, what is wrong? */
export function OverviewPage() {
  const mayList = useMay("job.list");
  const mayStatus = useMay("appliance.status");
  const mayFleet = useMay("fleet.read");
  return (
    <>
      <h1>Overview</h1>
      {mayStatus ? <Wrong /> : null}
      {mayFleet ? <Workers /> : null}
      {mayList ? <Living /> : null}
      <Account />
    </>
  );
}

function Wrong() {
  const appliance = useAppliance();
  if (appliance.isPending) return <Skeleton rows={2} />;
  if (appliance.isError)
    return <Failure error={appliance.error} retry={() => void appliance.refetch()} />;
  return (
    <Panel title="What is wrong">
      <FindingList findings={appliance.data.findings} />
    </Panel>
  );
}

const LIVING = { state: "-SUCCEEDED,-FAILED,-CANCELLED,-EXPIRED,-REJECTED", limit: 20 };

function Living() {
  const client = useQueryClient();
  const queryKey = ["jobs", "living"];
  const jobs = useQuery({
    queryKey,
    queryFn: ({ signal }) => ask("GET", "/api/jobs", { query: LIVING, signal }),
  });
  useTopic(
    { kind: "jobs" },
    (told) => {
      client.setQueryData<JobListReply>(queryKey, (old) =>
        old === undefined
          ? old
          : { ...old, jobs: old.jobs.map((row) => told.reduce(applyToRow, row)) },
      );
      if (told.some(({ change }) => change.kind === "job" && change.from === null))
        void client.invalidateQueries({ queryKey });
    },
    () => void client.invalidateQueries({ queryKey }),
  );
  if (jobs.isPending) return <Skeleton />;
  if (jobs.isError) return <Failure error={jobs.error} retry={() => void jobs.refetch()} />;
  return (
    <Panel title="Jobs that wait and run">
      {jobs.data.jobs.length === 0 ? (
        <p>
          Nothing waits and nothing runs. <Link href="/jobs">All jobs</Link>
        </p>
      ) : (
        <Table
          caption="Jobs that wait and run"
          rows={jobs.data.jobs}
          keyOf={({ id }) => id}
          columns={[
            { title: "State", of: ({ state }) => <State of={jobWord(state)} /> },
            { title: "Job", of: ({ id, name }) => <Link href={`/jobs/${id}`}>{name}</Link> },
            { title: "Why, or where", of: whyOf },
            { title: "Owner", of: ({ owner }) => owner },
            { title: "For", of: ({ since }) => <Lasted from={since} to={null} />, isNumber: true },
          ]}
        />
      )}
    </Panel>
  );
}
