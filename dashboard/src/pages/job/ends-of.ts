/** How members ended, in words. Pure. */
import { endWords } from "@resontech/contracts/end-words";
import type { DashboardJobWithWorkers } from "@resontech/contracts/http-tasks";

type Member = Pick<
  DashboardJobWithWorkers["workers"][number],
  "state" | "site" | "exitCode" | "reason"
>;

export function hasMemberEnded(state: Member["state"]): boolean {
  return ENDED.includes(state);
}

const ENDED: readonly Member["state"][] = ["RELEASED", "LOST", "FENCED", "QUARANTINED"];

/** As {@link endWords} says it; null while it has not ended, and where nothing is known of its end. */
export function endOf({ state, exitCode, reason }: Member): string | null {
  if (!hasMemberEnded(state)) return null;
  return endWords({ exitCode, reason });
}

/**
 * `3 of 3`: sites whose member ended well; null while one has not ended, and where the job has no sites.
 * @param blamed the site that the job failed at: its process ends as if it were well, once it has told the server
 */
export function sitesThatEndedWell(
  members: readonly Member[],
  blamed: string | null = null,
): string | null {
  const sites = members.filter(({ site }) => site !== null);
  if (sites.length === 0 || !sites.every(({ state }) => hasMemberEnded(state))) return null;
  const well = sites.filter(
    ({ state, site, exitCode, reason }) =>
      state === "RELEASED" && site !== blamed && reason === null && (exitCode ?? 0) === 0,
  );
  return `${well.length} of ${sites.length}`;
}
