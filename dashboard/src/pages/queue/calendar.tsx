import type { CalendarEntryReply } from "@resontech/contracts/http-pools";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ask } from "../../api/ask.ts";
import { useMay } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { countOf } from "../../ui/count-of.ts";
import { At } from "../../ui/instant.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Question } from "../../ui/question.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { useAction } from "../../ui/use-action.ts";
import { CalendarChange } from "./calendar-change.tsx";
import { CalendarForm } from "./calendar-form.tsx";

const ASKED_EVERY_MS = 15_000;
const COLUMNS: Column<CalendarEntryReply>[] = [
  {
    title: "What",
    narrow: "main",
    of: ({ kind, project }) =>
      kind === "maintenance" ? "Maintenance" : `Reserved for ${project?.name ?? "another project"}`,
    by: ({ kind, project }) => project?.name ?? kind,
  },
  { title: "From", narrow: "below", of: ({ from }) => <At at={from} />, by: ({ from }) => from },
  {
    title: "Until",
    narrow: "below",
    of: ({ until }) => <At at={until} />,
    by: ({ until }) => until,
  },
  {
    title: "Where",
    of: ({ pool, nodes }) => (pool === null ? nodes.join(", ") : `pool ${pool.name}`),
  },
  { title: "Reason", of: ({ reason }) => reason ?? "" },
];
const AFFECTED: Column<CalendarEntryReply> = {
  title: "Runs into it",
  of: ({ affected }) => (affected === null || affected === 0 ? "no job" : countOf(affected, "job")),
  by: ({ affected }) => affected,
};

/** When nodes are in maintenance, or reserved for a project. */
export function Calendar() {
  const maySet = useMay("calendar.set");
  const [leaving, setLeaving] = useState<CalendarEntryReply | null>(null);
  const [isOpen, setOpen] = useState(false);
  const [changing, setChanging] = useState<string | null>(null);
  const calendar = useQuery({
    queryKey: ["calendar"],
    queryFn: async ({ signal }) => (await ask("GET", "/api/calendar", { signal })).entries,
    refetchInterval: ASKED_EVERY_MS,
  });
  const callOff = useAction(async (id: string) => {
    await ask("DELETE", "/api/calendar/{id}", { params: { id } });
    setLeaving(null);
    await calendar.refetch();
  });
  if (calendar.isPending) return <Skeleton rows={2} />;
  if (calendar.isError && calendar.data === undefined)
    return <Failure error={calendar.error} retry={() => void calendar.refetch()} />;
  const change: Column<CalendarEntryReply> = {
    title: "Change",
    of: (entry) => (
      <>
        <Button
          aria-expanded={changing === entry.id}
          aria-label={`Change ${entry.id}`}
          onPress={() => setChanging(changing === entry.id ? null : entry.id)}
        >
          Change
        </Button>{" "}
        <Button
          look="danger"
          aria-label={`Call off ${entry.id}`}
          onPress={() => {
            callOff.forget();
            setLeaving(entry);
          }}
        >
          Call off
        </Button>
      </>
    ),
  };
  const changed = calendar.data.find(({ id }) => id === changing);
  return (
    <Panel title="Maintenance and reservations">
      {calendar.data.length === 0 ? (
        <p>No node is in maintenance or reserved, and none is going to be.</p>
      ) : (
        <Table
          caption="Maintenance and reservations"
          columns={maySet ? [...COLUMNS, AFFECTED, change] : COLUMNS}
          rows={calendar.data}
          keyOf={({ id }) => id}
        />
      )}
      {changed === undefined ? null : (
        <CalendarChange
          key={changed.id}
          entry={changed}
          onDone={async () => {
            await calendar.refetch();
            setChanging(null);
          }}
        />
      )}
      {maySet ? (
        <p>
          <Button aria-expanded={isOpen} onPress={() => setOpen(!isOpen)}>
            New entry
          </Button>
        </p>
      ) : null}
      {isOpen ? (
        <CalendarForm
          onDone={async () => {
            // The form forgets what was written before it goes.
            await calendar.refetch();
            setOpen(false);
          }}
        />
      ) : null}
      <Question
        title={`Call off ${leaving?.id ?? ""}?`}
        act="Call it off"
        isOpen={leaving !== null}
        isBusy={callOff.isBusy}
        onAct={() => {
          if (leaving !== null) callOff.run(leaving.id);
        }}
        onClose={() => setLeaving(null)}
      >
        <p>Its nodes are as the pools have them from then.</p>
        {callOff.error === null ? null : <Failure error={callOff.error} />}
      </Question>
    </Panel>
  );
}
