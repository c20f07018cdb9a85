/** Pure: a deployment as people and the public client see it. */
import type { DeploymentState } from "@resontech/contracts/deployment-states";
import type { DeploymentReply } from "@resontech/contracts/http-inference";
import { wireState, type WireState } from "@resontech/contracts/job-states";
import type { JobView } from "../../kernel/job-view.ts";
import { type Deployment, expectedWakeMs, openReplicas, startingOf } from "./deployment.ts";

/**
 * One of the four words that the client knows. Cold, asleep or waking a deployment runs: a client waits for that word alone, and its call would wake it.
 * @param serving null until it has loaded for the first time
 */
export function deploymentStatus(
  job: Pick<JobView, "state"> & { startedAt: unknown },
  serving: DeploymentState | null,
): WireState {
  // It has no end of its own: one that was stopped after it ran has done what it was there for.
  if (job.state === "CANCELLED" && job.startedAt !== null) return "FINISHED";
  // Its key is known to the gateway once it serves: whoever waits for RUNNING calls at once.
  if (job.state === "RUNNING" && serving === null) return "QUEUED";
  return job.state === "RUNNING" && serving === "FAILED" ? "FAILED" : wireState(job.state);
}

export function servingReply(deployment: Deployment): NonNullable<DeploymentReply["serving"]> {
  const { state, since } = deployment;
  return {
    ...{ state, since: new Date(since).toISOString() },
    ...{ ready: openReplicas(deployment).length, starting: startingOf(deployment) },
    wakeMs: expectedWakeMs(deployment),
  };
}
