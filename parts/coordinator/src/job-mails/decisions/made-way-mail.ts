import { madeWayWords } from "@resontech/contracts/made-way-words";

/** The mail about a job that made way: whose job has its workers, what stays of it, and when it is expected back. */
const MAX_NAME = 120;

export type MadeWayMail = {
  jobId: string;
  name: string;
  /** Null where the reader may not know it. */
  project: string | null;
  afterRound: number | null;
  /** Unix milliseconds; null where nobody knows. */
  expectedStart: number | null;
};

export function madeWayMail(
  { jobId, name, project, afterRound, expectedStart }: MadeWayMail,
  publicUrl: string,
): { subject: string; text: string } {
  const shown = shownName(name);
  const by = project === null ? null : { name: shownName(project) };
  const back =
    expectedStart === null
      ? "Nobody knows yet when it has workers again."
      : `It is expected to have workers again at ${new Date(expectedStart).toISOString()}.`;
  return {
    subject: `Job ${shown}: made way`,
    text: [
      `The job ${shown} waits again. ${madeWayWords({ project: by, afterRound }, false)}`,
      `${back} Nothing has to be done.`,
      "",
      `${publicUrl}/dashboard/jobs/${jobId}`,
      "",
      "You asked for mails of this job. Its page and the page Keys of the dashboard end such mails.",
      "",
    ].join("\n"),
  };
}

/** As a subject may have it. */
export function shownName(name: string): string {
  return name.replaceAll(/\p{Cc}+/gu, " ").slice(0, MAX_NAME);
}
