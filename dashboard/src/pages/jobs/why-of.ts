/** One short line about a job: why it waits, where it is, or why it ended. Pure. */
import type { JobRow } from "@resontech/contracts/http-jobs";

export function whyOf({ state, waitingFor, round, rounds, reason, attempt }: JobRow): string {
  if (waitingFor !== null) return waitingFor;
  const again = attempt > 1 ? `, attempt ${attempt}` : "";
  if (state === "RUNNING" && round !== null)
    return `round ${round}${rounds === null ? "" : ` of ${rounds}`}${again}`;
  if (reason !== null) return reason.replaceAll("_", " ");
  return again === "" ? "" : again.slice(2);
}
