/** When a job is expected to start, as a shell says it. Pure. */
import type { QueuedJob, StartErrorsReply } from "@resontech/contracts/http-queue";
import { age } from "../age.ts";

const NO_START: Record<NonNullable<QueuedJob["noStart"]>, string> = {
  "no-end-stated": "unknown: a job before it states no time limit",
  "far-off": "far off",
  "never-fits": "never, as fleet and limits are",
};

/** @param job as the queue has it; undefined of one that is held or has just started */
export function startWords(
  job: Pick<QueuedJob, "expectedStart" | "expectedRange" | "noStart"> | undefined,
  now: number,
): string {
  if (job?.expectedStart != null) {
    if (Date.parse(job.expectedStart) <= now) return "now";
    const left = (at: string) => age(new Date(now).toISOString(), Math.max(now, Date.parse(at)));
    const { from, until } = job.expectedRange ?? { from: null, until: null };
    if (from === null) return `in ${left(job.expectedStart)}`;
    const last = until === null ? "or far later" : `to ${left(until)}`;
    return `in ${left(job.expectedStart)} (${left(from)} ${last})`;
  }
  return job?.noStart == null ? "" : NO_START[job.noStart];
}

/** How far one may trust such starts; null while too few jobs have started. */
export function startErrorsWords(errors: StartErrorsReply | null): string | null {
  if (errors === null) return null;
  const { jobs, earlierSeconds, laterSeconds } = errors;
  return `of the last ${jobs} jobs 8 in 10 started at most ${lasted(earlierSeconds)} before and ${lasted(laterSeconds)} after what was told`;
}

/** Never less than it was. */
function lasted(seconds: number): string {
  return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}
