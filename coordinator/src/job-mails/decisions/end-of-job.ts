/** The mail about a job that has ended: its name, its state and where to look, and nothing else that anybody wrote. */
const MAX_NAME = 120;

export function endOfJob(
  { jobId, name, state }: { jobId: string; name: string; state: string },
  publicUrl: string,
): { subject: string; text: string } {
  const shown = name.replaceAll(/\p{Cc}+/gu, " ").slice(0, MAX_NAME);
  const word = state.toLowerCase();
  return {
    subject: `Job ${shown}: ${word}`,
    text: [
      `The job ${shown} has ended: ${word}.`,
      "",
      `${publicUrl}/dashboard/jobs/${jobId}`,
      "",
      "You asked for this mail. The job's page and the page Keys of the dashboard end such mails.",
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
