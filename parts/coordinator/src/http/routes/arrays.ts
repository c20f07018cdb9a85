/** Arrays of jobs: one task at many points. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import {
  ArrayBody,
  ArrayCancelReply,
  ArrayListReply,
  type ArrayPoint,
  ArrayReply,
} from "@resontech/contracts/http-arrays";
import { IdParam } from "@resontech/contracts/http-common";
import { QueueQuery } from "@resontech/contracts/http-queue";
import { isTerminal, type JobState } from "@resontech/contracts/job-states";
import { Type } from "typebox";
import type { ReadHandle } from "../../db/open-database.ts";
import { type ArrayPointView, type ArrayView, ArrayViews } from "../../kernel/array-views.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { type ArraySubmissionDeps, submitArray } from "../../submission/submit-array.ts";
import { authorize, authorizedRow, callerOfRequest } from "../authorization.ts";
import { authorizeClass } from "../authorize-class.ts";
import { instant, instantOrNull } from "../decisions/job-replies.ts";
import { inProject } from "../in-project.ts";
import { idempotencyKey } from "../idempotency-key.ts";
import { requireReadableJobs } from "../require-readable-jobs.ts";
import { responses } from "../responses.ts";
import { authorizedBucket } from "./bucket.ts";

export type ArrayRoutesDeps = ArraySubmissionDeps & {
  read: ReadHandle;
  kernel: Pick<Kernel, "job" | "requestStop">;
};

const tags = ["arrays"];
const params = Type.Object({ id: IdParam }, { additionalProperties: false });

export const arrayRoutes: FastifyPluginAsyncTypebox<ArrayRoutesDeps> = async (app, deps) => {
  const { kernel, read } = deps;
  const arrays = new ArrayViews(read);

  app.post(
    "/api/arrays",
    {
      schema: {
        summary: "Submit a task as many jobs, one for each index or each combination of parameters",
        tags,
        headers: Type.Object({ "idempotency-key": Type.Optional(Type.String()) }),
        body: ArrayBody,
        response: responses(201, ArrayReply),
      },
      config: { access: { action: "job.submit" }, audit: { event: "job.submit" } },
    },
    async (request, reply) => {
      const { userId, projectId } = callerOfRequest(request);
      const { task } = request.body;
      const bucket = await authorizedBucket(request, "job.inputs.read", read);
      await authorize(request, "job.submit", { userId, projectId });
      await authorizeClass(request, task.class, { userId, projectId });
      await requireReadableJobs(request, kernel, task.after, projectId);
      const id = await submitArray(
        ...([deps, { userId, projectId }, bucket.name, request.body] as const),
        idempotencyKey(request.headers["idempotency-key"]),
        request.audit,
      );
      return reply.code(201).send(arrayReply(arrays.find(id)!));
    },
  );

  app.get(
    "/api/arrays",
    {
      schema: {
        summary: "Arrays of jobs that the caller may read, the newest first",
        ...{ tags, querystring: QueueQuery, response: responses(200, ArrayListReply) },
      },
      config: { access: { action: "job.list" }, audit: { none: "status" } },
    },
    async (request) => {
      const { rows } = await authorize(request, "job.list", "rows");
      const { project } = request.query;
      if (project !== undefined) inProject(request, read, callerOfRequest(request), project);
      return { arrays: arrays.list(rows, project).map(head) };
    },
  );

  app.get(
    "/api/arrays/:id",
    {
      schema: {
        summary: "An array with each of its jobs: parameters, state and last metrics",
        ...{ tags, params, response: responses(200, ArrayReply) },
      },
      config: { access: { action: "job.read" }, audit: { none: "status" } },
    },
    async (request) =>
      arrayReply(await authorizedRow(request, "job.read", arrays.find(request.params.id))),
  );

  app.post(
    "/api/arrays/:id/cancel",
    {
      schema: {
        summary: "Ask all jobs of the array to stop, the last one first",
        ...{ tags, params, response: responses(200, ArrayCancelReply) },
      },
      config: { access: { action: "job.cancel" }, audit: { event: "job.cancel" } },
    },
    async (request) => {
      const array = await authorizedRow(request, "job.cancel", arrays.find(request.params.id));
      const { userId } = callerOfRequest(request);
      let stopping = 0;
      // From the last: one that ends makes room for the next one that is held.
      for (const { job } of arrays.points(array.id).toReversed()) {
        if (job === null || isTerminal(job.state)) continue;
        await request.audit.operation(
          { type: "job.cancel", object: { kind: "job", id: job.id } },
          async ({ proof, closedElsewhere }) => {
            await kernel.requestStop(job.id, "user_cancelled", proof, userId);
            closedElsewhere();
          },
        );
        stopping += 1;
      }
      return { stopping };
    },
  );

  function head(array: ArrayView): ArrayListReply["arrays"][number] {
    const { id, name, projectId, owner, atOnce, createdAt } = array;
    const states = arrays.states(id);
    return {
      ...{ id, name, projectId, owner, atOnce, createdAt: instant(createdAt) },
      points: states.reduce((sum, { count }) => sum + count, 0),
      counts: countsOf(states),
    };
  }

  function arrayReply(array: ArrayView): ArrayReply {
    return { ...head(array), points: arrays.points(array.id).map(pointReply) };
  }
};

function pointReply({ point, parameters, job, metrics }: ArrayPointView): ArrayPoint {
  const told = { index: point, parameters: { ...parameters }, metrics };
  if (job === null) return { ...told, job: null };
  const { outputRoot, startedAt, endedAt, ...said } = job;
  return {
    ...told,
    job: {
      ...{ ...said, outputPath: `/${outputRoot}` },
      ...{ startedAt: instantOrNull(startedAt), endedAt: instantOrNull(endedAt) },
    },
  };
}

const WAITING: ReadonlySet<JobState> = new Set(["ACCEPTED", "QUEUED", "HELD"]);

function countsOf(
  states: readonly { state: JobState | null; count: number }[],
): ArrayReply["counts"] {
  const sums = { waiting: 0, running: 0, succeeded: 0, failed: 0 };
  for (const { state, count } of states)
    if (state === null) sums.failed += count;
    else if (WAITING.has(state)) sums.waiting += count;
    else if (state === "SUCCEEDED") sums.succeeded += count;
    else sums[isTerminal(state) ? "failed" : "running"] += count;
  return sums;
}
