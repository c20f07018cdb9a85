/** States of a deployment and of its replicas, as the coordinator's reducer moves them (parts/coordinator/src/inference/decisions/deployment.ts). */

export const DEPLOYMENT_STATES = [
  /** No replica, and none on its way. A call wakes it. */
  "COLD",
  /** A replica is on its way; calls wait. */
  "WAKING",
  /** At least one replica takes calls. */
  "HOT",
  /** Each replica keeps its place with its payload stopped. */
  "SLEEPING",
  /** The last replicas take nothing new and end what they have. */
  "DRAINING",
  /** Somebody ended the deployment. */
  "STOPPED",
  /** Too many wakes failed; calls are refused until the next try. */
  "FAILED",
] as const;
export type DeploymentState = (typeof DEPLOYMENT_STATES)[number];

export const REPLICA_STATES = [
  /** It has a worker whose node has not heard of it. */
  "LEASED",
  "STARTING",
  /** Its payload runs and loads. */
  "WARMING",
  "READY",
  /** It was ready, and its node is late with its beats. */
  "SUSPECT",
  /** It takes nothing new. */
  "DRAINING",
  "SLEEPING",
  /** Asked to get up, and not yet heard of. */
  "WAKING",
  "STOPPING",
  "LOST",
] as const;
export type ReplicaState = (typeof REPLICA_STATES)[number];
