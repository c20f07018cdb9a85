/** A call at the door of its deployment: the replica that takes it, or what its caller is told. */
import type { ServerResponse } from "node:http";
import type { Route } from "@resontech/contracts/inference-routes";
import type { Refused } from "./admission.ts";
import type { Admissions } from "./admissions.ts";
import { HangUp } from "./hang-up.ts";
import { Place } from "./place.ts";
import type { Refusal } from "./refuse.ts";
import type { RouteFollower } from "./route-follower.ts";

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
  moved: {
    ...{ status: 503, type: "unavailable" },
    message: "another deployment takes the place of this one",
  },
  restarting: { status: 503, type: "unavailable", message: "the gateway starts anew" },
  gone: { status: 503, type: "unavailable", message: "the deployment does not answer now" },
};

export function refusalOf(refused: Refused, retryAfterS: number): Refusal {
  return { ...REFUSALS[refused], retryAfterS };
}

export type Door = {
  admissions: Pick<Admissions, "enter" | "leave" | "noteUnreached" | "noteAnswer">;
  routes: Pick<RouteFollower, "find">;
};

/**
 * Waits for as long as the call may, also where another deployment takes the place of this one meanwhile. Whoever is given a place ends it with the call.
 * @returns null where the caller has hung up
 */
export async function admit(
  { admissions, routes }: Door,
  asked: Route,
  response: ServerResponse,
): Promise<Place | { refusal: Refusal } | null> {
  const gone = new HangUp(response);
  for (let route = asked; ; ) {
    const admitted = await admissions.enter(route.deployment, gone);
    if (admitted === null) return null;
    if ("replica" in admitted) return new Place(admissions, { route, gone, ...admitted });
    const successor = admitted.refused === "moved" ? routes.find(route.deployment) : null;
    if (successor === null || successor.deployment === route.deployment)
      return { refusal: refusalOf(admitted.refused, admitted.retryAfterS) };
    route = successor;
  }
}
