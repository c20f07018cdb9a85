/** A list of deployments after a change. Pure: what does not change stays the same object, so that nothing is drawn again. */
import { DEPLOYMENT_KINDS, type DeploymentRow } from "@resontech/contracts/http-inference";
import { isTerminal } from "@resontech/contracts/job-states";
import type { Told } from "./told.ts";

/** All of it that the change says; the wire's word comes with the next reading. */
export function applyToDeployment(row: DeploymentRow, { at, change }: Told): DeploymentRow {
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
    default:
      return row;
  }
}

/** Whether a list has to be read again: one of its deployments got on, or there is another one. */
export function concernsDeployments(known: ReadonlySet<string>, told: readonly Told[]): boolean {
  return told.some(
    ({ change }) =>
      ((change.kind === "job" || change.kind === "member") && known.has(change.job)) ||
      (change.kind === "job" && isDeployment(change.workload)),
  );
}

/** @param workload of a job that is new, as the feed tells it */
export function isDeployment(workload: string | undefined): boolean {
  return workload !== undefined && DEPLOYMENT_KINDS.includes(workload);
}
