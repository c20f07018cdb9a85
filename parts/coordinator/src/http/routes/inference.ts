/** `/api/inference/jobs`: deployments, as the public client makes and reads them. Calls of them go to the gateway, never here. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { Readable } from "node:stream";
import { IdParam } from "@resontech/contracts/http-common";
import {
  DEPLOYMENT_KINDS,
  DeployBody,
  DeployedReply,
  DeploymentListReply,
  DeploymentReply,
  INFERENCE_PATH,
  RotatedPredictKeyReply,
} from "@resontech/contracts/http-inference";
import { JobListQuery } from "@resontech/contracts/http-jobs";
import { isTerminal, wireState } from "@resontech/contracts/job-states";
import { Type } from "typebox";
import { ApiError } from "../../api-error.ts";
import type { GroupCommit } from "../../db/group-commit.ts";
import type { ReadHandle } from "../../db/open-database.ts";
import { DeploymentTable } from "../../inference/deployment-table.ts";
import { drawPredictKey, PredictKeys } from "../../inference/predict-keys.ts";
import { Rollouts } from "../../inference/rollouts.ts";
import { JobLists } from "../../kernel/job-lists.ts";
import type { JobView } from "../../kernel/job-view.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { StoredLogs } from "../../outputs/stored-logs.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { acceptTask, type SubmissionDeps } from "../../submission/submit-task.ts";
import type { Deployment } from "../../workloads/predictor/predictor.ts";
import type { OwnImages } from "../../workloads/predictor/own-images.ts";
import { validatePredictor } from "../../workloads/predictor/validate-predictor.ts";
import { authorize, authorizedRow, callerOfRequest } from "../authorization.ts";
import { inProject } from "../in-project.ts";
import { asDeployment, deploymentReply, deploymentRow } from "../decisions/deployment-replies.ts";
import { modelSources } from "../model-sources.ts";
import { WORKLOADS } from "../../workloads/workloads.ts";
import { responses } from "../responses.ts";
import { authorizedBucket } from "./bucket.ts";

export type InferenceRoutesDeps = SubmissionDeps & {
  read: ReadHandle;
  commit: GroupCommit;
  kernel: Pick<Kernel, "job" | "requestStop">;
  store: Pick<ObjectStore, "list" | "listAtOnce" | "getRange" | "stat">;
  outputExport: "open" | "controlled";
  publicUrl: string;
  ownImages: OwnImages;
};

const tags = ["inference"];
const params = Type.Object({ id: IdParam }, { additionalProperties: false });

export const inferenceRoutes: FastifyPluginAsyncTypebox<InferenceRoutesDeps> = async (
  app,
  deps,
) => {
  const { kernel, read, commit, store, publicUrl } = deps;
  const deployments = new DeploymentTable(read);
  const rollouts = new Rollouts(read, deployments);
  const lists = new JobLists(read, WORKLOADS);
  const keys = new PredictKeys(commit);
  const logs = new StoredLogs(read, store);
  const endpointOf = (id: string) => `${publicUrl}${INFERENCE_PATH}/${id}`;

  app.post(
    "/api/inference/jobs",
    {
      schema: {
        summary: "Deploy a predictor; the key to call it is shown this once",
        ...{ tags, body: DeployBody, response: responses(201, DeployedReply) },
      },
      config: { access: { action: "job.submit" }, audit: { event: "job.submit" } },
    },
    async (request, reply) => {
      const { userId, projectId } = callerOfRequest(request);
      const bucket = await authorizedBucket(request, "job.inputs.read", read);
      await authorize(request, "job.submit", { userId, projectId });
      const { key, sha256: keySha256, callbackSecret } = drawPredictKey();
      const { body } = request;
      const from =
        body.replaces === undefined
          ? null
          : await authorizedRow(request, "job.cancel", find(body.replaces));
      if (from !== null && from.projectId !== projectId)
        throw new ApiError("not_replaceable", `deployment ${from.id} is of another project`);
      const sources = modelSources(request, deps);
      const job = await acceptTask(
        deps,
        { userId, projectId },
        {
          validated: async () => {
            const task = await validatePredictor({ ...deps, sources }, bucket.name, body, {
              ...{ keySha256, callbackSecret },
            });
            if (from !== null)
              rollouts.requireReplaceable(
                {
                  ...{ id: from.id, spec: requireDeployment(from.id) },
                  isOver: isTerminal(from.state),
                },
                task.spec,
              );
            return task;
          },
          ...{ asked: body, pool: body.pool, idempotencyKey: null },
        },
        request.audit,
      );
      return reply.code(201).send({
        ...{ jobId: job.id, status: wireState(job.state), endpoint: endpointOf(job.id) },
        // Nobody calls it before it has the key of the one before.
        ...{ apiKey: from === null ? key : null, warnings: job.warnings },
      });
    },
  );

  app.get(
    "/api/inference/jobs",
    {
      schema: {
        summary:
          "Deployments that the caller may read, newest first, with how many there are in each state",
        ...{ tags, querystring: JobListQuery, response: responses(200, DeploymentListReply) },
      },
      config: { access: { action: "job.list" }, audit: { none: "status" } },
    },
    async (request) => {
      const { rows } = await authorize(request, "job.list", "rows");
      const { project } = request.query;
      // As the header that names a project: of none that one is not in, and of none that there is not.
      if (project !== undefined) inProject(request, read, callerOfRequest(request), project);
      const { jobs, ...page } = lists.page(rows, { are: DEPLOYMENT_KINDS }, request.query);
      return {
        ...page,
        deployments: jobs.map((job) =>
          deploymentRow(job, requireDeployment(job.id), {
            ...{ endpoint: endpointOf(job.id), serving: deployments.state(job.id) },
          }),
        ),
      };
    },
  );

  app.get(
    "/api/inference/jobs/:id",
    {
      schema: {
        summary: "One deployment, and how it is",
        ...{ tags, params, response: responses(200, DeploymentReply) },
      },
      config: { access: { action: "job.read" }, audit: { none: "status" } },
    },
    async (request) => replyOf(await authorizedRow(request, "job.read", find(request.params.id))),
  );

  app.delete(
    "/api/inference/jobs/:id",
    {
      schema: {
        summary: "Ask the deployment to stop; legal in every state",
        ...{ tags, params, response: responses(200, DeploymentReply) },
      },
      config: { access: { action: "job.cancel" }, audit: { event: "job.cancel" } },
    },
    async (request) => {
      const job = await authorizedRow(request, "job.cancel", find(request.params.id));
      return request.audit.operation(
        { type: "job.cancel", object: { kind: "job", id: job.id } },
        async (operation) => {
          const stopping = await kernel.requestStop(job.id, "user_cancelled", operation.proof);
          operation.closedElsewhere();
          return replyOf(stopping ?? job);
        },
      );
    },
  );

  app.post(
    "/api/inference/jobs/:id/rotate-key",
    {
      schema: {
        summary: "A new key to call the deployment; the one before it is refused from now on",
        ...{ tags, params, response: responses(200, RotatedPredictKeyReply) },
      },
      config: {
        access: { action: "deployment.key.rotate" },
        audit: { event: "key.predict.rotate" },
      },
    },
    async (request) => {
      const job = await authorizedRow(request, "deployment.key.rotate", find(request.params.id));
      if (isTerminal(job.state))
        throw new ApiError("deployment_over", `deployment ${job.id} has ended`);
      const apiKey = await request.audit.operation(
        { type: "key.predict.rotate", object: { kind: "job", id: job.id } },
        (operation) => keys.replace(job.id, operation.completeIn),
      );
      return { jobId: job.id, endpoint: endpointOf(job.id), apiKey };
    },
  );

  app.get(
    "/api/inference/jobs/:id/logs",
    {
      schema: {
        summary: "What the deployment's replica has printed and stored",
        ...{ tags, params },
        response: responses(200, Type.String({ description: "Text." })),
      },
      config: { access: { action: "job.read" }, audit: { event: "data.log.read" } },
    },
    async (request, reply) => {
      const job = await authorizedRow(request, "job.read", find(request.params.id));
      const member = job.members.find(({ role }) => role === "replica");
      const whole = member === undefined ? null : await logs.whole(job, member.id);
      await request.audit.fact({
        type: "data.log.read",
        object: { kind: "job", id: job.id },
        detail: { bytes: whole?.storedBytes ?? 0 },
      });
      return reply
        .type("text/plain; charset=utf-8")
        .send(whole === null ? "" : Readable.from(whole.pieces()));
    },
  );

  function find(id: string): JobView | null {
    return asDeployment(kernel.job(id));
  }

  function requireDeployment(id: string): Deployment {
    const deployment = deployments.of(id);
    if (deployment === null) throw new ApiError("not_found", "there is no such deployment");
    return deployment;
  }

  function replyOf(job: JobView): DeploymentReply {
    return deploymentReply(job, requireDeployment(job.id), {
      endpoint: endpointOf(job.id),
      serving: deployments.state(job.id),
      failure: deployments.failure(job.id),
    });
  }
};
