/** One short line about a job: why it waits, where it is, or why it ended. Pure. */
import type { JobRow } from "@resontech/contracts/http-jobs";
import { sentenceCase } from "../../ui/sentence-case.ts";
import { waitingSentence } from "../../ui/waiting-sentence.ts";

export function whyOf(job: JobRow): string {
  return waitingSentence(job.waitingFor) ?? sentenceCase(whyWords(job));
}

function whyWords({ state, round, rounds, reason, attempt }: JobRow): string {
  const again = attempt > 1 ? `, attempt ${attempt}` : "";
  if (state === "RUNNING" && round !== null)
    return `round ${round}${rounds === null ? "" : ` of ${rounds}`}${again}`;
  if (reason !== null) return reason.replaceAll("_", " ");
  return again === "" ? "" : again.slice(2);
}
