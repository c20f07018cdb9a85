/** A deployment as the public client and our own pages read it. */
import {
  DEPLOYMENT_KINDS,
  type DeploymentReply,
  type DeploymentRow,
} from "@resontech/contracts/http-inference";
import type { JobRow } from "@resontech/contracts/http-jobs";
import { isTerminal } from "@resontech/contracts/job-states";
import type { JobView } from "../../kernel/job-view.ts";
import type { Deployment as Served } from "../../inference/decisions/deployment.ts";
import { deploymentStatus, servingReply } from "../../inference/decisions/deployment-reply.ts";
import {
  apiOf,
  type Deployment,
  modelTask,
  type WeightsOrigin,
} from "../../workloads/predictor/predictor.ts";
import { jobDetail } from "./job-replies.ts";

/** Answers a job as a task; null for one that is a deployment: the hosted contract knows it as none of its tasks. */
export function asTask(job: JobView | null): JobView | null {
  return job !== null && DEPLOYMENT_KINDS.includes(job.kind) ? null : job;
}

export function asDeployment(job: JobView | null): JobView | null {
  return job !== null && DEPLOYMENT_KINDS.includes(job.kind) ? job : null;
}

/**
 * @param serving null until it has loaded for the first time
 * @param failure why its last replica that failed did so
 */
export function deploymentReply(
  job: JobView,
  spec: Deployment,
  {
    endpoint,
    serving,
    failure,
  }: { endpoint: string; serving: Served | null; failure: string | null },
): DeploymentReply {
  const { visibility, weights = null } = spec;
  const status = deploymentStatus(job, serving?.state ?? null);
  const isBroken = status === "FAILED" && !isTerminal(job.state);
  const { error, detail, warnings, createdAt, startedAt, endedAt } = jobDetail(job);
  return {
    ...{ id: job.id, name: job.name, projectId: job.projectId, endpoint },
    status,
    error: isBroken ? failure : status === "FAILED" ? error : null,
    serving: serving === null ? null : servingReply(serving),
    weights: weights === null ? null : weightsReply(weights),
    ...{ visibility, api: apiOf(spec), task: modelTask(spec) },
    ...{ warnings, createdAt, startedAt, endedAt, detail },
    replicas: job.members.map(({ id, node, model, state, isReady }) => ({
      ...{ id, node, model, state },
      isReady: isReady && state === "RUNNING",
    })),
  };
}

function weightsReply({
  named,
  versionId,
  commit,
  sizeBytes,
  sha256,
}: WeightsOrigin): NonNullable<DeploymentReply["weights"]> {
  return { named, versionId, commit, sizeBytes, sha256 };
}

export function deploymentRow(
  { id, name, projectId, owner, state, since, reason, waitingFor, ...row }: JobRow,
  { visibility }: Pick<Deployment, "visibility">,
  { endpoint, serving }: { endpoint: string; serving: Served | null },
): DeploymentRow {
  const { createdAt, startedAt, endedAt } = row;
  return {
    ...{ id, name, projectId, owner, state, since, reason, waitingFor },
    status: deploymentStatus({ state, startedAt }, serving?.state ?? null),
    ready: serving === null ? 0 : servingReply(serving).ready,
    ...{ endpoint, visibility, createdAt, startedAt, endedAt },
  };
}
