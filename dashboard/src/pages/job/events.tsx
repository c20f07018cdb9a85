import type { JobHistoryReply } from "@resontech/contracts/http-jobs";
import { JOB_STATES, type JobState, type MemberState } from "@resontech/contracts/job-states";
import { At } from "../../ui/instant.tsx";
import { State } from "../../ui/state.tsx";
import { jobWord, memberWord } from "../../ui/state-word.ts";
import { type Column, Table } from "../../ui/table.tsx";

type Event = JobHistoryReply["events"][number];

const COLUMNS: Column<Event>[] = [
  { title: "When", of: ({ at }) => <At at={at} /> },
  {
    title: "Who",
    of: ({ member }) => (member === null ? "the job" : (member.site ?? member.role)),
  },
  {
    title: "Became",
    of: ({ member, to }) => (
      <State of={member === null && isJobState(to) ? jobWord(to) : memberWord(to as MemberState)} />
    ),
  },
  {
    title: "Because of",
    of: ({ event, reason }) =>
      reason === null ? event : `${event}: ${reason.replaceAll("_", " ")}`,
  },
  { title: "Attempt", of: ({ attempt }) => attempt ?? "", isNumber: true },
];

/** Shows the events, newest first. */
export function Events({ events }: { events: readonly Event[] }) {
  return (
    <Table
      caption="Events, newest first"
      columns={COLUMNS}
      rows={[...events].reverse()}
      keyOf={({ journal }) => String(journal)}
    />
  );
}

function isJobState(state: string): state is JobState {
  return JOB_STATES.some((one) => one === state);
}
