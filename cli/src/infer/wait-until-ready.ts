/** A deployment that was asked for, watched until it answers or has ended. */
import { ERROR_CATALOGUE } from "@resontech/contracts/error-catalogue";
import type { DeploymentReply } from "@resontech/contracts/http-inference";
import { isTerminal, type JobState } from "@resontech/contracts/job-states";
import { DEPLOYMENT_WORDS } from "@resontech/contracts/state-words";
import { CliError } from "../cli-error.ts";
import { toldWithUnits } from "../size.ts";

const LOOK_MS = 1_000;
/** The appliance may be slow, restart, or be out of reach for so long. */
const PATIENCE_MS = 10 * 60_000;
const TOO_MANY = 429;
const NO_ANSWER = "the appliance does not answer; the deployment goes on meanwhile";

/**
 * Why it waits is said on the way.
 * @param find asks the appliance for the deployment
 * @returns RUNNING once it answers calls, or the state in which it ended
 * @throws CliError that no waiting mends, and the last one where the appliance does not answer for too long
 */
export async function waitUntilReady(
  find: () => Promise<DeploymentReply>,
  say: (text: string) => void,
  { lookMs = LOOK_MS, patienceMs = PATIENCE_MS }: { lookMs?: number; patienceMs?: number } = {},
): Promise<JobState> {
  let answeredAt = performance.now();
  for (let said = ""; ; ) {
    let now: string;
    try {
      const { status, detail } = await find();
      answeredAt = performance.now();
      const { state, waitingFor } = detail;
      // A job that runs may not be known to the gateway yet.
      if (status === "RUNNING" || isTerminal(state)) return state;
      const word = DEPLOYMENT_WORDS[state];
      now = waitingFor === null ? word : `${word}: ${toldWithUnits(waitingFor)}`;
    } catch (error) {
      if (!isPassing(error) || performance.now() - answeredAt > patienceMs) throw error;
      now = NO_ANSWER;
    }
    if (now !== said) say(now);
    said = now;
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
}

/** Nothing of the request is wrong: the appliance, or the way to it, is. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof CliError)) return false;
  if (error.code === "unreachable") return true;
  const known = Object.entries(ERROR_CATALOGUE).find(([code]) => code === error.code);
  const status = known?.[1].status ?? 0;
  return status >= 500 || status === TOO_MANY;
}
