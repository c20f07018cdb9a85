/** A list of jobs after a change. Pure: what does not change stays the same object, so that nothing is drawn again. */
import type { JobRow } from "@resontech/contracts/http-jobs";
import { isTerminal } from "@resontech/contracts/job-states";
import { isDeployment } from "./apply-to-deployments.ts";
import type { Told } from "./told.ts";

export function applyToRow(row: JobRow, { at, change }: Told): JobRow {
  if (!("job" in change) || change.job !== row.id) return row;
  switch (change.kind) {
    case "job":
      return {
        ...row,
        ...{ state: change.to, reason: change.reason, since: at },
        waitingFor: change.to === "QUEUED" ? row.waitingFor : null,
        startedAt: change.to === "RUNNING" ? (row.startedAt ?? at) : row.startedAt,
        endedAt: isTerminal(change.to) ? at : row.endedAt,
      };
    case "waiting":
      return { ...row, waitingFor: change.why };
    case "round":
      return {
        ...{ ...row, round: change.round, rounds: change.total ?? row.rounds },
        roundsDone: row.roundsDone + (change.phase === "ended" ? 1 : 0),
      };
    default:
      return row;
  }
}

/** Tasks that a change is about and that the list does not show. */
export function unknownJobs(known: ReadonlySet<string>, told: readonly Told[]): string[] {
  const ids = told.flatMap(({ change }) =>
    change.kind === "job" &&
    change.from === null &&
    !known.has(change.job) &&
    !isDeployment(change.workload)
      ? [change.job]
      : [],
  );
  return [...new Set(ids)];
}
