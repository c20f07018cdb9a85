/** A deployment as the public client and our own pages read it. */
import {
  DEPLOYMENT_KINDS,
  type DeploymentReply,
  type DeploymentRow,
} from "@resontech/contracts/http-inference";
import type { JobRow } from "@resontech/contracts/http-jobs";
import { type JobState, wireState } from "@resontech/contracts/job-states";
import type { JobView } from "../../kernel/job-view.ts";
import type { Deployment as Served } from "../../inference/decisions/deployment.ts";
import { servingReply } from "../../inference/decisions/serving-reply.ts";
import type { Deployment } from "../../workloads/predictor/predictor.ts";
import { jobDetail } from "./job-replies.ts";

/** Null for a job that is a deployment: the hosted contract knows it as none of its tasks. */
export function asTask(job: JobView | null): JobView | null {
  return job !== null && DEPLOYMENT_KINDS.includes(job.kind) ? null : job;
}

export function asDeployment(job: JobView | null): JobView | null {
  return job !== null && DEPLOYMENT_KINDS.includes(job.kind) ? job : null;
}

/**
 * @param serving null until it has loaded for the first time, and once it is over
 * @param failure why it can't be loaded any more; null where it can
 */
export function deploymentReply(
  job: JobView,
  { visibility }: Pick<Deployment, "visibility">,
  {
    endpoint,
    serving,
    failure,
  }: { endpoint: string; serving: Served | null; failure: string | null },
): DeploymentReply {
  // Cold, asleep or waking it runs: only one that can't be loaded any more does not.
  const isBroken = serving?.state === "FAILED";
  const isOver = hasServed(job.state, job.startedAt !== null);
  const { error, detail, warnings, createdAt, startedAt, endedAt } = jobDetail(job);
  return {
    ...{ id: job.id, name: job.name, projectId: job.projectId, endpoint },
    status: isOver ? "FINISHED" : isBroken ? "FAILED" : wireState(job.state),
    error: isOver ? null : isBroken ? failure : error,
    serving: serving === null ? null : servingReply(serving),
    ...{ visibility, warnings, createdAt, startedAt, endedAt, detail },
    replicas: job.members.map(({ id, node, model, state, isReady }) => ({
      ...{ id, node, model, state },
      isReady: isReady && state === "RUNNING",
    })),
  };
}

/** @param ready replicas that calls are led to */
export function deploymentRow(
  { id, name, projectId, owner, state, since, reason, waitingFor, ...row }: JobRow,
  { visibility }: Pick<Deployment, "visibility">,
  { endpoint, ready }: { endpoint: string; ready: number },
): DeploymentRow {
  const { createdAt, startedAt, endedAt } = row;
  return {
    ...{ id, name, projectId, owner, state, since, reason, waitingFor },
    status: hasServed(state, startedAt !== null) ? "FINISHED" : wireState(state),
    ...{ endpoint, visibility, ready, createdAt, startedAt, endedAt },
  };
}

/** A deployment has no end of its own: one that was stopped after it ran has done what it was there for. */
function hasServed(state: JobState, hasStarted: boolean): boolean {
  return state === "CANCELLED" && hasStarted;
}
