import { useQuery } from "@tanstack/react-query";
import { ask } from "../../api/ask.ts";
import { Ago } from "../../ui/instant.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { State } from "../../ui/state.tsx";
import { jobWord } from "../../ui/state-word.ts";
import { Table } from "../../ui/table.tsx";

const ASKED_EVERY_MS = 10_000;

/** Jobs for whoever runs the box: how each is, and nothing that a user wrote into it. */
export function JobStates() {
  const states = useQuery({
    queryKey: ["job-states"],
    queryFn: ({ signal }) => ask("GET", "/api/job-states", { query: { limit: 50 }, signal }),
    refetchInterval: ASKED_EVERY_MS,
  });
  if (states.isPending) return <Skeleton />;
  if (states.isError) return <Failure error={states.error} retry={() => void states.refetch()} />;
  return (
    <Panel title="Jobs, the newest 50">
      {states.data.length === 0 ? (
        <p>No job yet.</p>
      ) : (
        <Table
          caption="Jobs, newest first"
          rows={states.data}
          keyOf={({ id }) => id}
          columns={[
            { title: "State", narrow: "below", of: ({ state }) => <State of={jobWord(state)} /> },
            { title: "Job", narrow: "main", of: ({ id }) => <code>{id}</code> },
            { title: "Kind", of: ({ kind }) => kind },
            { title: "Since", of: ({ since }) => <Ago at={since} /> },
            {
              title: "Because of",
              narrow: "below",
              of: ({ reason }) => (reason ?? "").replaceAll("_", " "),
            },
            { title: "Attempt", of: ({ attempt }) => attempt, isNumber: true },
          ]}
        />
      )}
    </Panel>
  );
}
