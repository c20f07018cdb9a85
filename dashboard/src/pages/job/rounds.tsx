import type { JobHistoryReply } from "@resontech/contracts/http-jobs";
import type { DashboardJobWithWorkers } from "@resontech/contracts/http-tasks";
import { isTerminal } from "@resontech/contracts/job-states";
import { Empty } from "../../ui/notice.tsx";
import { duration } from "../../ui/instants.ts";
import { type Column, Table } from "../../ui/table.tsx";
import { barsOf } from "./bars-of.ts";
import styles from "./rounds.module.css";

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
      <Empty title="No round yet">
        <p>
          {isTerminal(job.detail.state)
            ? "The job ended before a round began, or is of a kind that has none."
            : "Rounds appear here as soon as the first one begins."}
        </p>
      </Empty>
    );
  const end = job.endedAt === null ? Date.now() : Date.parse(job.endedAt);
  const { bars, attempts } = barsOf(history, end);
  return (
    <>
      <svg
        viewBox={`0 0 1000 ${bars.length * 18 + 4}`}
        className={styles["waterfall"]}
        role="img"
        aria-label={`${bars.length} rounds over time; the table below says the same`}
        preserveAspectRatio="none"
      >
        {attempts.map((at) => (
          <line
            key={at}
            x1={at}
            x2={at}
            y1={0}
            y2={bars.length * 18 + 4}
            className={styles["attempt"]}
          />
        ))}
        {bars.map((bar, row) => (
          <rect
            key={`${bar.attempt}-${bar.round}`}
            x={bar.from}
            width={Math.max(2, bar.width)}
            y={row * 18 + 3}
            height={14}
            rx={2}
            className={bar.isOver ? styles["over"] : styles["running"]}
          >
            <title>{`Round ${bar.round}: ${duration(bar.ms)}`}</title>
          </rect>
        ))}
      </svg>
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
  { title: "Round", of: ({ round }) => round, isNumber: true },
  { title: "Attempt", of: ({ attempt }) => attempt, isNumber: true },
  {
    title: "Took",
    of: ({ startedAt, endedAt }) =>
      startedAt === null || endedAt === null
        ? isOver
          ? "not finished"
          : "runs"
        : duration(Date.parse(endedAt) - Date.parse(startedAt)),
    isNumber: true,
  },
  { title: "Updates of", of: ({ sites }) => sites.join(", ") },
  { title: "Model", of: ({ isFinite }) => (isFinite === false ? "holds no numbers (NaN)" : "") },
  { title: "Checkpoint", of: ({ hasCheckpoint }) => (hasCheckpoint ? "kept" : "") },
];
