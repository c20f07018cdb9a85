/** Pure: a deployment as people see it. */
import type { DeploymentReply } from "@resontech/contracts/http-inference";
import { type Deployment, startingOf, openReplicas } from "./deployment.ts";

export function servingReply(deployment: Deployment): NonNullable<DeploymentReply["serving"]> {
  const { state, since } = deployment;
  return {
    ...{ state, since: new Date(since).toISOString() },
    ...{ ready: openReplicas(deployment).length, starting: startingOf(deployment) },
  };
}
