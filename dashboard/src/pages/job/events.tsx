import type { JobHistoryReply } from "@resontech/contracts/http-jobs";
import { JOB_STATES, type JobState, type MemberState } from "@resontech/contracts/job-states";
import { At } from "../../ui/instant.tsx";
import { State } from "../../ui/state.tsx";
import { jobWord, memberWord } from "../../ui/state-word.ts";
import { type Column, Table } from "../../ui/table.tsx";

type Event = JobHistoryReply["events"][number];

const COLUMNS: Column<Event>[] = [
  { title: "When", narrow: "main", of: ({ at }) => <At at={at} /> },
  {
    title: "Who",
    narrow: "below",
    of: ({ member }) => (member === null ? "the job" : (member.site ?? member.role)),
  },
  {
    title: "Became",
    narrow: "below",
    of: ({ member, to }) => (
      <State of={member === null && isJobState(to) ? jobWord(to) : memberWord(to as MemberState)} />
    ),
  },
  {
    title: "Because of",
    narrow: "below",
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
