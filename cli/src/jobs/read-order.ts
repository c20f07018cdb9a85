/** `JOB` or `JOB:ended`: what a job is to start after. */
import { AFTER_WHENS, type AfterWhen } from "@resontech/contracts/http-tasks";
import { UsageError } from "../cli-error.ts";
import type { Settings } from "../settings.ts";
import { findJob } from "./find-job.ts";

/** @property job its id, or how that begins */
export type AskedOrder = { job: string; when: AfterWhen };

/** @throws UsageError where the word behind the colon is none */
export function readOrder(text: string): AskedOrder {
  const [job = "", word = "succeeded", ...more] = text.split(":");
  const when = AFTER_WHENS.find((one) => one === word);
  if (job === "" || when === undefined || more.length > 0)
    throw new UsageError(
      "after_invalid",
      `--after takes a job, and not ${JSON.stringify(text)}`,
      "Say JOB for its success, or JOB:ended for any end.",
    );
  return { job, when };
}

/** For an option that may stand several times. */
export function withOrder(text: string, before: readonly AskedOrder[]): AskedOrder[] {
  return [...before, readOrder(text)];
}

/** @throws CliError where several jobs begin so */
export async function orderedJob(settings: Settings, { job, when }: AskedOrder) {
  return { job: await findJob(settings, job), when };
}
