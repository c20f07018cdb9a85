/** `/api/inference/jobs`: deployments, as the public client makes and reads them. Calls of them go to the gateway, never here. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { IdParam } from "@resontech/contracts/http-common";
import {
  DeployBody,
  DeployedReply,
  DeploymentReply,
  INFERENCE_PATH,
  PREDICT_KEY_PREFIX,
} from "@resontech/contracts/http-inference";
import { wireState } from "@resontech/contracts/job-states";
import { Type } from "typebox";
import { ApiError } from "../../api-error.ts";
import type { ReadHandle } from "../../db/open-database.ts";
import type { JobView } from "../../kernel/job-view.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { DeploymentTable } from "../../inference/deployment-table.ts";
import { StoredLogs } from "../../outputs/stored-logs.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { acceptTask, type SubmissionDeps } from "../../submission/submit-task.ts";
import { validatePredictor } from "../../workloads/predictor/validate-predictor.ts";
import { authorize, authorizedRow, callerOfRequest } from "../authorization.ts";
import { jobDetail } from "../decisions/job-replies.ts";
import { responses } from "../responses.ts";
import { authorizedBucket } from "./bucket.ts";

export type InferenceRoutesDeps = SubmissionDeps & {
  read: ReadHandle;
  kernel: Kernel;
  store: Pick<ObjectStore, "list" | "getRange">;
  publicUrl: string;
};

const tags = ["inference"];
const params = Type.Object({ id: IdParam }, { additionalProperties: false });
const KEY_BYTES = 32;

export const inferenceRoutes: FastifyPluginAsyncTypebox<InferenceRoutesDeps> = async (
  app,
  deps,
) => {
  const { kernel, read, store, publicUrl } = deps;
  const deployments = new DeploymentTable(read);
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
      const apiKey = PREDICT_KEY_PREFIX + randomBytes(KEY_BYTES).toString("base64url");
      const keySha256 = createHash("sha256").update(apiKey).digest("hex");
      const { body } = request;
      const job = await acceptTask(
        deps,
        { userId, projectId },
        {
          validated: () => validatePredictor(deps, bucket.name, body, keySha256),
          ...{ asked: body, idempotencyKey: null },
        },
        request.audit,
      );
      return reply.code(201).send({
        ...{ jobId: job.id, status: wireState(job.state), endpoint: endpointOf(job.id) },
        ...{ apiKey, warnings: job.warnings },
      });
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
    async (request) =>
      deploymentReply(await authorizedRow(request, "job.read", find(request.params.id))),
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
    const job = kernel.job(id);
    return job?.kind === "predictor" ? job : null;
  }

  function deploymentReply(job: JobView): DeploymentReply {
    const deployment = deployments.of(job.id);
    if (deployment === null) throw new ApiError("not_found", "there is no such deployment");
    // A deployment has no end of its own: one that was stopped after it ran has done what it was there for.
    const isOver = job.state === "CANCELLED" && job.startedAt !== null;
    const { error, ...common } = jobDetail(job);
    return {
      ...{ id: job.id, name: job.name, endpoint: endpointOf(job.id) },
      status: isOver ? "FINISHED" : wireState(job.state),
      error: isOver ? null : error,
      visibility: deployment.visibility,
      createdAt: common.createdAt,
      detail: common.detail,
    };
  }
};
