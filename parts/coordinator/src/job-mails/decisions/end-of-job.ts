import { DEPLOYMENT_KINDS } from "@resontech/contracts/http-inference";
import type { JobState } from "@resontech/contracts/job-states";
import { JOB_WORDS } from "@resontech/contracts/state-words";

/** The mail about a job that has ended: its name, its state and where to look, and nothing else that anybody wrote. */
const MAX_NAME = 120;

export function endOfJob(
  { jobId, kind, name, state }: { jobId: string; kind: string; name: string; state: JobState },
  publicUrl: string,
): { subject: string; text: string } {
  const shown = name.replaceAll(/\p{Cc}+/gu, " ").slice(0, MAX_NAME);
  const word = JOB_WORDS[state];
  const { what, page } = DEPLOYMENT_KINDS.includes(kind)
    ? { what: "deployment", page: "inference/jobs" }
    : { what: "job", page: "jobs" };
  return {
    subject: `${what[0]!.toUpperCase()}${what.slice(1)} ${shown}: ${word}`,
    text: [
      `The ${what} ${shown} has ended: ${word}.`,
      "",
      `${publicUrl}/dashboard/${page}/${jobId}`,
      "",
      "You asked for this mail. Its page and the page Keys of the dashboard end such mails.",
      "",
    ].join("\n"),
  };
}

const FIRST_WAIT_MS = 60_000;
const LONGEST_WAIT_MS = 3_600_000;
/** About a day. */
const MOST_TRIES = 30;

/** When a mail that was not taken is tried again; null: never. @param tries that failed before this one */
export function nextTry(tries: number, now: number): number | null {
  if (tries + 1 >= MOST_TRIES) return null;
  return now + Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** tries);
}
