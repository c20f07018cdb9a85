/** When a job is expected to start, as pages say it. Pure. */
import type { QueuedJob, StartErrorsReply } from "@resontech/contracts/http-queue";
import { duration } from "./instants.ts";

const NO_START: Record<NonNullable<QueuedJob["noStart"]>, string> = {
  "no-end-stated": "Unknown: a job before it states no time limit",
  "far-off": "Far off",
  "never-fits": "Never, as fleet and limits are",
};

/** `In 30 min (10 min to 2 h)`; empty of one that is held. */
export function startSentence(
  {
    expectedStart,
    expectedRange,
    noStart,
  }: Pick<QueuedJob, "expectedStart" | "expectedRange" | "noStart">,
  now: number,
): string {
  if (expectedStart === null) return noStart === null ? "" : NO_START[noStart];
  const left = Date.parse(expectedStart) - now;
  if (left <= 0) return "Now";
  if (expectedRange === undefined) return `In ${duration(left)}`;
  const [from, until] = [expectedRange.from, expectedRange.until].map((at) =>
    at === null ? null : duration(Math.max(0, Date.parse(at) - now)),
  );
  return `In ${duration(left)} (${from} ${until === null ? "or far later" : `to ${until}`})`;
}

/** How far one may trust expected starts; null while too few jobs have started. */
export function startErrorsSentence(errors: StartErrorsReply | null): string | null {
  if (errors === null) return null;
  const { jobs, earlierSeconds, laterSeconds } = errors;
  return `Of the last ${jobs} jobs 8 in 10 started at most ${duration(earlierSeconds * 1_000)} before and ${duration(laterSeconds * 1_000)} after what was expected.`;
}
