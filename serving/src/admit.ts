/** A call at the door of its deployment: the replica that takes it, or what its caller is told. */
import type { ServerResponse } from "node:http";
import type { Route } from "@resontech/contracts/inference-routes";
import type { Refused, Replica } from "./admission.ts";
import type { Admissions } from "./admissions.ts";
import type { Refusal } from "./refuse.ts";

const REFUSALS: Record<Refused, Refusal> = {
  queue_full: { status: 429, type: "queue_full", message: "as many calls wait as may" },
  busy: { status: 503, type: "busy", message: "every replica has as many calls as it takes" },
  still_waking: {
    ...{ status: 503, type: "still_waking" },
    message: "the deployment wakes, and was not ready in time",
  },
  load_failed: {
    ...{ status: 503, type: "load_failed" },
    message: "the deployment failed to load several times; it is tried again later",
  },
  restarting: { status: 503, type: "unavailable", message: "the gateway starts anew" },
  gone: { status: 503, type: "unavailable", message: "the deployment does not answer now" },
};

export function refusalOf(refused: Refused, retryAfterS: number): Refusal {
  return { ...REFUSALS[refused], retryAfterS };
}

/**
 * Waits for as long as the call may. Whoever is given a replica must `admissions.leave` it.
 * @returns null where the caller has hung up
 */
export async function admit(
  admissions: Pick<Admissions, "enter">,
  { deployment }: Route,
  response: ServerResponse,
): Promise<{ replica: Replica } | { refusal: Refusal } | null> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const admitted = await admissions.enter(deployment, gone.signal);
  if (admitted === null || "replica" in admitted) return admitted;
  return { refusal: refusalOf(admitted.refused, admitted.retryAfterS) };
}
