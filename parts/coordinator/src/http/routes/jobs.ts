/** `/api/jobs`: what pages and shells show of jobs. Submitting and stopping is `/api/tasks`, as the public client does both. */
import { Readable } from "node:stream";
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { IdParam } from "@resontech/contracts/http-common";
import { DEPLOYMENT_KINDS } from "@resontech/contracts/http-inference";
import {
  JobFileBody,
  JobHistoryReply,
  JobInputsReply,
  JobListQuery,
  JobListReply,
  JobLogQuery,
  JobLogReply,
  JobLogSearchQuery,
  JobLogSearchReply,
  JobLogsReply,
  JobMetricsReply,
  JobOrderReply,
  JobParametersReply,
} from "@resontech/contracts/http-jobs";
import { DownloadReply } from "@resontech/contracts/http-storage";
import { Type } from "typebox";
import { ApiError } from "../../api-error.ts";
import { credentialOf } from "../../authorization/caller.ts";
import { JobHistory } from "../../kernel/job-history.ts";
import { JobLists } from "../../kernel/job-lists.ts";
import { JobMetrics } from "../../kernel/job-metrics.ts";
import { JobNeighbours } from "../../kernel/job-neighbours.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { StoredTasks } from "../../kernel/stored-tasks.ts";
import type { LogSearches } from "../../outputs/log-search/log-searches.ts";
import { StoredLogs } from "../../outputs/stored-logs.ts";
import { livingVersion } from "../../storage/living-version.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { authorize, authorizedRow, callerOfRequest } from "../authorization.ts";
import { parametersReply } from "../decisions/parameters-reply.ts";
import { inProject } from "../in-project.ts";
import { type DownloadDeps, issueDownload } from "../issue-download.ts";
import { WORKLOADS } from "../../workloads/workloads.ts";
import { responses } from "../responses.ts";
import { authorizedBucket } from "./bucket.ts";

export type JobRoutesDeps = DownloadDeps & {
  kernel: Pick<Kernel, "job" | "outputs">;
  store: Pick<ObjectStore, "list" | "getRange" | "stat" | "presignGet">;
  logSearches: Pick<LogSearches, "search">;
};

const tags = ["jobs"];
const closed = { additionalProperties: false } as const;
const params = Type.Object({ id: IdParam }, closed);
const memberParams = Type.Object({ id: IdParam, member: IdParam }, closed);
/** In seconds: when a search that was refused may find room. */
const RETRY_AFTER_S = 2;
const ofJob = { access: { action: "job.read" }, audit: { none: "status" } } as const;

export const jobRoutes: FastifyPluginAsyncTypebox<JobRoutesDeps> = async (app, deps) => {
  const { read, kernel, store, logSearches } = deps;
  const lists = new JobLists(read, WORKLOADS);
  const history = new JobHistory(read);
  const metrics = new JobMetrics(read);
  const logs = new StoredLogs(read, store);
  const tasks = new StoredTasks(read);
  const poolName = read.prepare<[string], string>("SELECT name FROM pools WHERE id = ?").pluck();
  const neighbours = new JobNeighbours(read);

  app.get(
    "/api/jobs",
    {
      schema: {
        summary:
          "Tasks that the caller may read, newest first, with how many there are in each state",
        ...{ tags, querystring: JobListQuery, response: responses(200, JobListReply) },
      },
      config: { access: { action: "job.list" }, audit: { none: "status" } },
    },
    async (request) => {
      const { rows } = await authorize(request, "job.list", "rows");
      const { project } = request.query;
      // As the header that names a project: of none that one is not in, and of none that there is not.
      if (project !== undefined) inProject(request, read, callerOfRequest(request), project);
      return lists.page(rows, { areNot: DEPLOYMENT_KINDS }, request.query);
    },
  );

  app.get(
    "/api/jobs/:id/history",
    {
      schema: {
        summary: "Attempts, rounds and events of a job",
        ...{ tags, params, response: responses(200, JobHistoryReply) },
      },
      config: ofJob,
    },
    async (request) => {
      return history.of(await authorizedRow(request, "job.read", kernel.job(request.params.id)));
    },
  );

  app.get(
    "/api/jobs/:id/order",
    {
      schema: {
        summary: "What a job is to start after, and what is to start after it",
        ...{ tags, params, response: responses(200, JobOrderReply) },
      },
      config: ofJob,
    },
    async (request) => {
      const { id } = await authorizedRow(request, "job.read", kernel.job(request.params.id));
      const { rows } = await authorize(request, "job.read", "rows");
      return neighbours.of(id, rows);
    },
  );

  app.get(
    "/api/jobs/:id/metrics",
    {
      schema: {
        summary: "Curves of what a job printed as metrics",
        ...{ tags, params, response: responses(200, JobMetricsReply) },
      },
      config: ofJob,
    },
    async (request) => {
      const { id } = await authorizedRow(request, "job.read", kernel.job(request.params.id));
      return metrics.of(id, "printed");
    },
  );

  app.get(
    "/api/jobs/:id/devices",
    {
      schema: {
        summary: "What the devices of a job did while its members held them",
        ...{ tags, params, response: responses(200, JobMetricsReply) },
      },
      config: ofJob,
    },
    async (request) => {
      const { id } = await authorizedRow(request, "job.read", kernel.job(request.params.id));
      return metrics.of(id, "devices");
    },
  );

  app.get(
    "/api/jobs/:id/inputs",
    {
      schema: {
        summary: "Objects that a job was made of, by version",
        ...{ tags, params, response: responses(200, JobInputsReply) },
      },
      config: ofJob,
    },
    async (request) => {
      const { id } = await authorizedRow(request, "job.read", kernel.job(request.params.id));
      return history.inputs(id);
    },
  );

  app.get(
    "/api/jobs/:id/parameters",
    {
      schema: {
        summary: "What was chosen for a job, and what its files hold",
        ...{ tags, params, response: responses(200, JobParametersReply) },
      },
      config: ofJob,
    },
    async (request) => {
      const job = await authorizedRow(request, "job.read", kernel.job(request.params.id));
      const task = tasks.of(job.id);
      if (task === null) throw new ApiError("not_found", `there is no job ${job.id}`);
      return parametersReply(
        task,
        job.projectId,
        // Of one that is gone the id: a job like this one names another, and says so.
        task.pool == null ? null : (poolName.get(task.pool) ?? task.pool),
      );
    },
  );

  app.post(
    "/api/jobs/:id/download",
    {
      schema: {
        summary: "A URL that reads an input or an output of the job, for a few minutes",
        ...{ tags, params, body: JobFileBody, response: responses(200, DownloadReply) },
      },
      config: { access: { action: "bucket.read" }, audit: { event: "data.download.issue" } },
    },
    async (request) => {
      const { key, versionId } = request.body;
      const job = await authorizedRow(request, "job.read", kernel.job(request.params.id));
      const bucket = await authorizedBucket(request, "bucket.read", read);
      const isOfJob = [...kernel.outputs(job.id), ...(tasks.of(job.id)?.inputs ?? [])].some(
        (file) => file.key === key && file.versionId === versionId,
      );
      const version =
        isOfJob && job.bucket === bucket.name
          ? await livingVersion(store, bucket.name, { key, versionId })
          : null;
      if (version === null) throw new ApiError("not_found", `${job.id} has no such file any more`);
      return await issueDownload(request, deps, bucket, version);
    },
  );

  app.get(
    "/api/jobs/:id/logs",
    {
      schema: {
        summary: "Members of a job and how much of their logs is stored",
        ...{ tags, params, response: responses(200, JobLogsReply) },
      },
      config: ofJob,
    },
    async (request) =>
      await logs.list(await authorizedRow(request, "job.read", kernel.job(request.params.id))),
  );

  app.get(
    "/api/jobs/:id/logs/search",
    {
      schema: {
        summary: "Lines of the stored logs of a job's members that hold a text",
        ...{ tags, params, querystring: JobLogSearchQuery },
        response: responses(200, JobLogSearchReply),
      },
      config: { access: { action: "job.read" }, audit: { event: "data.log.read" } },
    },
    async (request, reply) => {
      const job = await authorizedRow(request, "job.read", kernel.job(request.params.id));
      const members = logs.membersOf(job.id);
      const caller = callerOfRequest(request);
      const { text, case: isCaseSensitive, first: isFirst, ...window } = request.query;
      const task = {
        ...{ job: job.id, bucket: job.bucket, members: members.map(({ member }) => member) },
        ...{ query: { text, isCaseSensitive, ...window }, isFirst },
      };
      const gone = new AbortController();
      reply.raw.once("close", () => gone.abort(new Error("whoever asked has gone")));
      const result = await logSearches
        .search(task, credentialOf(caller) ?? caller.userId, gone.signal)
        .catch((error: unknown) => {
          if (error instanceof ApiError && error.code === "overloaded")
            reply.header("retry-after", RETRY_AFTER_S);
          throw error;
        });
      // On record before a line of it is told.
      await request.audit.fact({
        type: "data.log.read",
        object: { kind: "job", id: job.id },
        detail: { bytes: result.searchedBytes },
      });
      const { found, ...counts } = result;
      const byId = new Map(members.map((one) => [one.member, one]));
      return {
        ...counts,
        matches: found.map(({ log, ...line }) => ({ ...line, ...byId.get(log)! })),
      };
    },
  );

  app.get(
    "/api/jobs/:id/logs/:member/whole",
    {
      schema: {
        summary: "The whole stored log of one member, as a file",
        ...{
          tags,
          params: memberParams,
          response: responses(200, Type.String({ description: "What the member printed." })),
        },
      },
      config: { access: { action: "job.read" }, audit: { event: "data.log.read" } },
    },
    async (request, reply) => {
      const job = await authorizedRow(request, "job.read", kernel.job(request.params.id));
      const { member } = request.params;
      const whole = await logs.whole(job, member);
      if (whole === null) throw new ApiError("not_found", `${job.id} has no such member`);
      await request.audit.fact({
        type: "data.log.read",
        object: { kind: "job", id: job.id },
        detail: { bytes: whole.storedBytes },
      });
      return reply
        .type("text/plain; charset=utf-8")
        .header("content-length", whole.storedBytes)
        .header("content-disposition", `attachment; filename="${member}.log"`)
        .send(Readable.from(whole.pieces()));
    },
  );

  app.get(
    "/api/jobs/:id/logs/:member",
    {
      schema: {
        summary: "Part of the stored log of one member",
        ...{
          tags,
          params: memberParams,
          querystring: JobLogQuery,
          response: responses(200, JobLogReply),
        },
      },
      config: { access: { action: "job.read" }, audit: { event: "data.log.read" } },
    },
    async (request) => {
      const job = await authorizedRow(request, "job.read", kernel.job(request.params.id));
      const part = await logs.read(job, request.params.member, request.query);
      if (part === null) throw new ApiError("not_found", `${job.id} has no such member`);
      await request.audit.fact({
        type: "data.log.read",
        object: { kind: "job", id: job.id },
        detail: { bytes: part.end - part.offset },
      });
      return part;
    },
  );
};
