/** What page and shell say of schedules and of their runs. Pure. */
import type { PauseReason, ScheduleRun } from "./http-schedules.ts";

/** Why a schedule rests. */
export const PAUSE_WORDS: Readonly<Record<PauseReason, string>> = {
  person: "paused",
  owner_disabled: "paused: its owner is disabled",
  owner_left: "paused: its owner left",
  owner_unseen: "paused: its owner has not signed in for seven days",
  not_in_project: "paused: its owner is no longer in the project",
  key_over: "paused: the platform key that made it is over",
  policy_refused: "paused: its owner may no longer submit jobs here",
  job_gone: "paused: the job that it repeats is gone",
};

/** What became of a run. */
export function runWords({ outcome, code }: Pick<ScheduleRun, "outcome" | "code">): string {
  if (code === null) return outcome;
  return code === "overlap"
    ? "skipped: the run before had not ended"
    : `${outcome}: ${code.replaceAll("_", " ")}`;
}
