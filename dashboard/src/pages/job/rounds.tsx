import type { JobHistoryReply } from "@resontech/contracts/http-jobs";
import type { DashboardJobWithWorkers } from "@resontech/contracts/http-tasks";
import { isTerminal } from "@resontech/contracts/job-states";
import { Empty } from "../../ui/notice.tsx";
import { duration } from "../../ui/instants.ts";
import { type Column, Table } from "../../ui/table.tsx";
import { RoundsTimeline } from "./rounds-timeline.tsx";
import { roundTimesOf } from "./round-times.ts";

type Round = JobHistoryReply["rounds"][number];

/** Rounds of all attempts over time, and each with whose updates it took. */
export function Rounds({
  job,
  history,
}: {
  job: DashboardJobWithWorkers;
  history: JobHistoryReply;
}) {
  if (history.rounds.length === 0)
    return (
      <Empty title={isTerminal(job.detail.state) ? "No round" : "No round yet"}>
        <p>
          {isTerminal(job.detail.state)
            ? "The job ended before a round began, or is of a kind that has none."
            : "Rounds appear here as soon as the first one begins."}
        </p>
      </Empty>
    );
  const end = job.endedAt === null ? Date.now() : Date.parse(job.endedAt);
  const members = job.workers.flatMap(({ site }) => (site === null ? [] : [site]));
  return (
    <>
      <RoundsTimeline rows={roundTimesOf(history, end, members)} />
      <Table
        caption="Rounds"
        columns={columns(isTerminal(job.detail.state))}
        rows={[...history.rounds].reverse()}
        keyOf={({ attempt, round }) => `${attempt}-${round}`}
      />
    </>
  );
}

const columns = (isOver: boolean): Column<Round>[] => [
  { title: "Round", of: ({ round }) => round, by: ({ round }) => round, isNumber: true },
  { title: "Attempt", of: ({ attempt }) => attempt, isNumber: true },
  {
    title: "Took",
    of: ({ startedAt, endedAt }) =>
      startedAt === null || endedAt === null
        ? isOver
          ? "not finished"
          : "running"
        : duration(Date.parse(endedAt) - Date.parse(startedAt)),
    isNumber: true,
  },
  { title: "Updates of", of: ({ sites }) => sites.join(", ") },
  { title: "Model", of: ({ isFinite }) => (isFinite === false ? "holds no numbers (NaN)" : "") },
  { title: "Checkpoint", of: ({ hasCheckpoint }) => (hasCheckpoint ? "kept" : "") },
];
