import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { IdParam } from "@resontech/contracts/http-common";
import { isTerminal } from "@resontech/contracts/job-states";
import {
  type AskedClass,
  RemovedOutputsReply,
  SubmitTaskBody,
  TaskOutputsReply,
  TaskReply,
  TaskVariantBody,
} from "@resontech/contracts/http-tasks";
import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { ApiError } from "../../api-error.ts";
import type { ReadHandle } from "../../db/open-database.ts";
import { findBucket } from "../../identity/bucket-store.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { logFolder, MAX_CHUNKS } from "../../outputs/decisions/log-chunks.ts";
import { StoredTasks } from "../../kernel/stored-tasks.ts";
import { validateAgain } from "../../submission/resubmit-task.ts";
import { validateVariant } from "../../submission/vary-task.ts";
import type { SubmissionTimes } from "../../metrics/submission-times.ts";
import { acceptTask, type SubmissionDeps, submitTask } from "../../submission/submit-task.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { authorize, authorizedRow, callerOfRequest } from "../authorization.ts";
import { authorizeClass } from "../authorize-class.ts";
import { asTask } from "../decisions/deployment-replies.ts";
import { instant, taskReply } from "../decisions/job-replies.ts";
import { idempotencyKey } from "../idempotency-key.ts";
import { requireReadableJobs } from "../require-readable-jobs.ts";
import { responses } from "../responses.ts";
import { authorizedBucket } from "./bucket.ts";

export type TaskRoutesDeps = SubmissionDeps & {
  metrics: { submissions: Pick<SubmissionTimes, "clock" | "ended"> };
  read: ReadHandle;
  kernel: Pick<Kernel, "job" | "outputs" | "forgetOutputs" | "requestStop">;
  store: Pick<ObjectStore, "list" | "listAtOnce" | "getRange" | "stat" | "remove">;
};

const tags = ["tasks"];
const params = Type.Object({ id: IdParam }, { additionalProperties: false });

export const taskRoutes: FastifyPluginAsyncTypebox<TaskRoutesDeps> = async (app, deps) => {
  const stored = new StoredTasks(deps.read);
  const find = (id: string) => asTask(deps.kernel.job(id));
  const listLogs = ({ id, bucket }: { id: string; bucket: string }) =>
    deps.store.list(bucket, logFolder(id), MAX_CHUNKS);

  app.post(
    "/api/tasks",
    {
      schema: {
        summary: "Submit a training task; every path is checked in the bucket first",
        tags,
        headers: Type.Object({ "idempotency-key": Type.Optional(Type.String()) }),
        body: SubmitTaskBody,
        response: responses(201, TaskReply),
      },
      config: { access: { action: "job.submit" }, audit: { event: "job.submit" } },
    },
    async (request, reply) => {
      deps.metrics.submissions.ended("authentication", reply.elapsedTime / 1_000);
      const ended = deps.metrics.submissions.clock();
      const { userId, projectId } = callerOfRequest(request);
      const bucket = await authorizedBucket(request, "job.inputs.read", deps.read);
      await authorize(request, "job.submit", { userId, projectId });
      await authorizeClass(request, request.body.class, { userId, projectId });
      await requireReadableJobs(request, deps.kernel, request.body.after, projectId);
      ended("policy");
      const key = idempotencyKey(request.headers["idempotency-key"]);
      const job = await submitTask(
        deps,
        { userId, projectId },
        bucket.name,
        request.body,
        key,
        request.audit,
      );
      return reply.code(201).send(taskReply(job));
    },
  );

  /** The earlier task, and who may begin one like it. @throws ApiError */
  async function earlierTask(
    request: FastifyRequest,
    id: string,
    changedClass?: AskedClass | null,
  ) {
    const earlier = await authorizedRow(request, "job.read", find(id));
    const { userId, projectId } = callerOfRequest(request);
    const bucket = await authorizedBucket(request, "job.inputs.read", deps.read);
    await authorize(request, "job.submit", { userId, projectId });
    const task = stored.of(earlier.id);
    if (task === null || task.bucket !== bucket.name)
      throw new ApiError("not_found", `the project has no task ${id}`);
    const jobClass = changedClass === undefined ? task.jobClass : changedClass;
    await authorizeClass(request, jobClass, { userId, projectId });
    return { task, owner: { userId, projectId } };
  }

  app.post(
    "/api/tasks/:id/resubmit",
    {
      schema: {
        summary:
          "The same task as a new one: of the versions that the first was made of, as long as these are there",
        ...{ tags, params },
        headers: Type.Object({ "idempotency-key": Type.Optional(Type.String()) }),
        response: responses(201, TaskReply),
      },
      config: { access: { action: "job.submit" }, audit: { event: "job.submit" } },
    },
    async (request, reply) => {
      const { id } = request.params;
      const { task, owner } = await earlierTask(request, id);
      const job = await acceptTask(
        ...([deps, owner] as const),
        {
          validated: () => validateAgain(deps, task),
          asked: { resubmit: id },
          idempotencyKey: idempotencyKey(request.headers["idempotency-key"]),
        },
        request.audit,
      );
      return reply.code(201).send(taskReply(job));
    },
  );

  app.post(
    "/api/tasks/:id/variants",
    {
      schema: {
        summary:
          "A task like an earlier one: what is not named is as it was, in the versions that the earlier one read",
        ...{ tags, params, body: TaskVariantBody },
        headers: Type.Object({ "idempotency-key": Type.Optional(Type.String()) }),
        response: responses(201, TaskReply),
      },
      config: { access: { action: "job.submit" }, audit: { event: "job.submit" } },
    },
    async (request, reply) => {
      const { id } = request.params;
      const { task, owner } = await earlierTask(request, id, request.body.class);
      const { after, pool = task.pool ?? null } = request.body;
      await requireReadableJobs(request, deps.kernel, after, owner.projectId);
      const job = await acceptTask(
        ...([deps, owner] as const),
        {
          validated: () => validateVariant(deps, task, request.body),
          ...{ after, pool },
          asked: { variantOf: id, ...request.body },
          idempotencyKey: idempotencyKey(request.headers["idempotency-key"]),
        },
        request.audit,
      );
      return reply.code(201).send(taskReply(job));
    },
  );

  app.get(
    "/api/tasks/:id",
    {
      schema: { summary: "One task", tags, params, response: responses(200, TaskReply) },
      config: { access: { action: "job.read" }, audit: { none: "status" } },
    },
    async (request) => taskReply(await authorizedRow(request, "job.read", find(request.params.id))),
  );

  app.get(
    "/api/tasks/:id/outputs",
    {
      schema: {
        summary:
          "What the task left, by version: a later task of the same name hides it and leaves it there",
        tags,
        params,
        response: responses(200, TaskOutputsReply),
      },
      config: { access: { action: "job.outputs.list" }, audit: { none: "status" } },
    },
    async (request) => {
      const job = await authorizedRow(request, "job.outputs.list", find(request.params.id));
      return deps.kernel.outputs(job.id).map(({ key, versionId, sizeBytes, sha256, storedAt }) => ({
        key,
        versionId,
        sizeBytes,
        sha256,
        storedAt: instant(storedAt),
      }));
    },
  );

  app.delete(
    "/api/tasks/:id/outputs",
    {
      schema: {
        summary:
          "Remove the versions that an ended task left, and its logs; they count in the bucket's quota until then",
        tags,
        params,
        response: responses(200, RemovedOutputsReply),
      },
      config: { access: { action: "job.outputs.remove" }, audit: { event: "data.bucket.delete" } },
    },
    async (request) => {
      const job = await authorizedRow(request, "job.outputs.remove", find(request.params.id));
      if (!isTerminal(job.state)) throw new ApiError("job_alive", `task ${job.id} is ${job.state}`);
      const outputs = deps.kernel.outputs(job.id);
      const logs = await listLogs(job);
      const logId = findBucket(deps.read, job.bucket)?.logId ?? job.projectId;
      const object = { kind: "bucket", id: logId } as const;
      return request.audit.operation(
        { type: "data.bucket.delete", object, detail: { objects: outputs.length + logs.length } },
        async () => {
          const note = (key: string) =>
            request.audit.fact({
              type: "data.object.delete.listed",
              object: { path: `${job.bucket}/${key}` },
              detail: { version: true },
            });
          for (const { key } of [...outputs, ...logs]) await note(key);
          for (const { key, versionId } of logs)
            await deps.store.remove(job.bucket, key, versionId);
          // Parts that were merged meanwhile: the merged one stands by now, or finds that its parts are gone.
          for (const { key, versionId } of await listLogs(job)) {
            await note(key);
            await deps.store.remove(job.bucket, key, versionId);
          }
          return { removed: (await deps.kernel.forgetOutputs(job.id)) + logs.length };
        },
      );
    },
  );

  app.post(
    "/api/tasks/:id/cancel",
    {
      schema: {
        summary: "Ask the task to stop; legal in every state",
        tags,
        params,
        response: responses(200, TaskReply),
      },
      config: { access: { action: "job.cancel" }, audit: { event: "job.cancel" } },
    },
    async (request) => {
      const job = await authorizedRow(request, "job.cancel", find(request.params.id));
      return request.audit.operation(
        { type: "job.cancel", object: { kind: "job", id: job.id } },
        async (operation) => {
          const { userId } = callerOfRequest(request);
          const stopping = await deps.kernel.requestStop(
            ...([job.id, "user_cancelled", operation.proof, userId] as const),
          );
          operation.closedElsewhere();
          return taskReply(stopping ?? job);
        },
      );
    },
  );
};
