/** The mail about a job whose node is wanted for something else. */
const MOST_NAME = 120;

/** @property text what its warning says */
export type CalendarMail = { jobId: string; name: string; text: string };

export function calendarMail(
  { jobId, name, text }: CalendarMail,
  publicUrl: string,
): { subject: string; text: string } {
  const shown = name.replaceAll(/\p{Cc}+/gu, " ").slice(0, MOST_NAME);
  return {
    subject: `Job ${shown}: its node is needed`,
    text: [
      `The job ${shown} runs on a node that is needed for something else. ${text}.`,
      "",
      `${publicUrl}/dashboard/jobs/${jobId}`,
      "",
      "You asked for mails of this job. Its page and the page Keys of the dashboard end such mails.",
      "",
    ].join("\n"),
  };
}
