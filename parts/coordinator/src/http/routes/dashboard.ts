import type { FastifyRequest } from "fastify";
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { IdParam } from "@resontech/contracts/http-common";
import { DEPLOYMENT_KINDS } from "@resontech/contracts/http-inference";
import {
  DashboardJob,
  DashboardJobWithWorkers,
  GpuCatalogReply,
  ImagesReply,
  JobPageQuery,
  JobStateReply,
  NvflareJobsQuery,
  NvflareJobsReply,
  NvflareStatsQuery,
  NvflareStatsReply,
  WorkerStatsReply,
} from "@resontech/contracts/http-tasks";
import type { JobImage } from "@resontech/contracts/coordinator-config";
import { Type } from "typebox";
import type { Kernel } from "../../kernel/kernel.ts";
import type { NvflareRuns } from "../../workloads/federation/nvflare-runs.ts";
import { wouldAllow } from "../../authorization/decide.ts";
import type { ReadHandle } from "../../db/open-database.ts";
import { projectName } from "../../identity/project-store.ts";
import type { QueueViews } from "../../kernel/queue-views.ts";
import { authorize, authorizedRow, callerOfRequest } from "../authorization.ts";
import {
  dashboardJob,
  dashboardJobWithWorkers,
  instant,
  jobStateReply,
} from "../decisions/job-replies.ts";
import { asTask } from "../decisions/deployment-replies.ts";
import { responses } from "../responses.ts";

export type DashboardRoutesDeps = {
  read: ReadHandle;
  queue: Pick<QueueViews, "startOf">;
  kernel: Pick<Kernel, "job" | "jobs" | "workersStats" | "catalogue">;
  nvflareRuns: Pick<NvflareRuns, "of">;
  images: readonly JobImage[];
};

const audit = { none: "status" } as const;
const ofJob = { access: { action: "job.read" }, audit } as const;
const ofFleet = { access: { action: "fleet.read" }, audit } as const;
const tags = ["dashboard"];

export const dashboardRoutes: FastifyPluginAsyncTypebox<DashboardRoutesDeps> = async (
  app,
  { read, queue, kernel, nvflareRuns, images },
) => {
  /** Nothing where the caller may not read such a job. */
  const projectForCaller = (
    request: FastifyRequest,
    job: { projectId: string; userId: string },
  ) => {
    const mayKnow = wouldAllow(callerOfRequest(request), "job.read", job);
    const name = mayKnow ? projectName(read, job.projectId) : null;
    return name === null ? null : { id: job.projectId, name };
  };
  const findTask = (id: string) => asTask(kernel.job(id));

  app.get(
    "/api/customer/dashboard/jobs",
    {
      schema: {
        summary: "Jobs of the key's project, newest first",
        tags,
        querystring: JobPageQuery,
        response: responses(200, Type.Array(DashboardJob)),
      },
      config: { access: { action: "job.list" }, audit },
    },
    async (request) => {
      const { limit, offset } = request.query;
      const { rows } = await authorize(request, "job.list", "rows");
      return kernel.jobs(rows, limit, offset, { areNot: DEPLOYMENT_KINDS }).map(dashboardJob);
    },
  );

  app.get(
    "/api/customer/dashboard/jobs/:id",
    {
      schema: {
        summary: "One job with its members and their nodes' heartbeats",
        tags,
        params: Type.Object({ id: IdParam }, { additionalProperties: false }),
        response: responses(200, DashboardJobWithWorkers),
      },
      config: ofJob,
    },
    async (request) => {
      const job = await authorizedRow(request, "job.read", findTask(request.params.id));
      const by = job.madeWay?.by ?? null;
      return dashboardJobWithWorkers(job, {
        project: by === null ? null : projectForCaller(request, by),
        expectedStart: job.state === "QUEUED" ? queue.startOf(job.id) : null,
      });
    },
  );

  app.get(
    "/api/job-states",
    {
      schema: {
        summary: "States of jobs, newest first, for who may not read the jobs themselves",
        tags,
        querystring: JobPageQuery,
        response: responses(200, Type.Array(JobStateReply)),
      },
      config: { access: { action: "job.state.list" }, audit },
    },
    async (request) => {
      const { limit, offset } = request.query;
      const { rows } = await authorize(request, "job.state.list", "rows");
      return kernel.jobs(rows, limit, offset, { areNot: [] }).map(jobStateReply);
    },
  );

  app.get(
    "/api/job-states/:id",
    {
      schema: {
        summary: "The state of one job",
        tags,
        params: Type.Object({ id: IdParam }, { additionalProperties: false }),
        response: responses(200, JobStateReply),
      },
      config: { access: { action: "job.state.read" }, audit },
    },
    async (request) =>
      jobStateReply(await authorizedRow(request, "job.state.read", kernel.job(request.params.id))),
  );

  app.get(
    "/api/customer/dashboard/workers/stats",
    {
      schema: {
        summary: "Workers and their free memory",
        tags,
        response: responses(200, WorkerStatsReply),
      },
      config: ofFleet,
    },
    async () => {
      const { onlineCount, totalFreeMemoryMb, workers } = kernel.workersStats();
      return {
        onlineCount,
        totalFreeMemoryMb,
        workers: workers.map((worker) => ({
          id: worker.id,
          node: worker.node,
          model: worker.model,
          free_memory_mb: worker.freeMemoryMb,
          total_memory_mb: worker.totalMemoryMb,
          price: worker.priceCents,
          status: worker.status,
        })),
      };
    },
  );

  app.get(
    "/api/customer/dashboard/listJobsNvflare",
    {
      schema: {
        summary: "NVFlare's own jobs of a task; empty before it starts",
        tags,
        querystring: NvflareJobsQuery,
        response: responses(200, NvflareJobsReply),
      },
      config: ofJob,
    },
    async (request) => {
      const job = await authorizedRow(request, "job.read", findTask(request.query.job_id));
      const jobs = nvflareRuns
        .of(job.id)
        .map(({ nvflareJob, status, attempt, startedAt, endedAt }) => ({
          job_id: nvflareJob,
          status,
          attempt,
          started_at: instant(startedAt),
          ended_at: endedAt === null ? null : instant(endedAt),
        }));
      return { jobs };
    },
  );

  app.get(
    "/api/customer/dashboard/showStatsNvflare",
    {
      schema: {
        summary: "Rounds of a task over all its attempts; null before the first",
        tags,
        querystring: NvflareStatsQuery,
        response: responses(200, NvflareStatsReply),
      },
      config: ofJob,
    },
    async (request) => {
      const job = await authorizedRow(request, "job.read", findTask(request.query.job_id));
      const { current, total } = job.rounds;
      return { current_round: current, num_rounds: current === null ? null : total };
    },
  );

  app.get(
    "/api/gpu-catalog",
    {
      schema: {
        summary: "Models by catalogue id",
        tags,
        response: responses(200, GpuCatalogReply),
      },
      config: ofFleet,
    },
    async () =>
      kernel.catalogue().map(({ pricePerHourCents, ...model }) => ({
        ...model,
        pricePerGpuHourCents: pricePerHourCents,
      })),
  );

  app.get(
    "/api/images",
    {
      schema: {
        summary: "Job images and the Python packages in each",
        tags,
        response: responses(200, ImagesReply),
      },
      config: ofFleet,
    },
    async () =>
      images.map(({ profile, pythonVersion, sizeBytes, needs, packages }) => ({
        ...{ profile, pythonVersion, sizeBytes },
        ...(needs === undefined ? {} : { needs }),
        packages: Object.entries(packages)
          .map(([name, version]) => ({ name, version }))
          .sort((a, b) => (a.name < b.name ? -1 : 1)),
      })),
  );
};
