/** The mail about an interactive job that idles, before it is ended. */
import { shownName } from "./made-way-mail.ts";

/** @param warning as the job's page has it, without its end */
export function idleMail(
  { jobId, name, warning }: { jobId: string; name: string; warning: string },
  publicUrl: string,
): { subject: string; text: string } {
  const shown = shownName(name);
  return {
    subject: `Job ${shown}: idles`,
    text: [
      `The job ${shown} will end soon: ${warning}.`,
      "",
      `${publicUrl}/dashboard/jobs/${jobId}`,
      "",
      "You asked for mails of this job. Its page and the page Keys of the dashboard end such mails.",
      "",
    ].join("\n"),
  };
}
