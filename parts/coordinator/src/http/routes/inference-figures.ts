/** How deployments do, and what was used of them: figures of the last minute, and sums of days. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import type { DeviceUse } from "@resontech/contracts/agent-protocol";
import type { DeploymentFigures } from "@resontech/contracts/gateway-numbers";
import { IdParam } from "@resontech/contracts/http-common";
import {
  DEPLOYMENT_KINDS,
  DeploymentMetrics,
  DeploymentMetricsList,
  UsageQuery,
  UsageReply,
} from "@resontech/contracts/http-inference";
import { Type } from "typebox";
import type { ReadHandle } from "../../db/open-database.ts";
import { MAX_USAGE_ROWS, readUsage } from "../../inference/call-usage.ts";
import { deploymentStatus, servingReply } from "../../inference/decisions/deployment-reply.ts";
import { DeploymentTable } from "../../inference/deployment-table.ts";
import { JobLists } from "../../kernel/job-lists.ts";
import type { JobView } from "../../kernel/job-view.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { authorize, authorizedRow, callerOfRequest } from "../authorization.ts";
import { inProject } from "../in-project.ts";
import { asDeployment } from "../decisions/deployment-replies.ts";
import { WORKLOADS } from "../../workloads/workloads.ts";
import { responses } from "../responses.ts";

export type InferenceFigureRoutesDeps = {
  read: ReadHandle;
  kernel: Pick<Kernel, "job">;
  /** How a deployment does now. */
  watch: { figures(deployment: string): DeploymentFigures };
  /** What the devices of all nodes do. */
  deviceUses: () => readonly DeviceUse[];
};

const tags = ["inference"];
/** The newest that run. */
const MAX_LISTED = 200;

export const inferenceFigureRoutes: FastifyPluginAsyncTypebox<InferenceFigureRoutesDeps> = async (
  app,
  { read, kernel, watch, deviceUses },
) => {
  const lists = new JobLists(read, WORKLOADS);
  const deployments = new DeploymentTable(read);

  app.get(
    "/api/inference/jobs/:id/metrics",
    {
      schema: {
        summary: "How a deployment does now: its calls of the last minute, replicas and devices",
        ...{ tags, params: Type.Object({ id: IdParam }, { additionalProperties: false }) },
        response: responses(200, DeploymentMetrics),
      },
      config: { access: { action: "job.read" }, audit: { none: "status" } },
    },
    async (request) => {
      const found = asDeployment(kernel.job(request.params.id));
      return metricsOf(await authorizedRow(request, "job.read", found), deviceUses());
    },
  );

  app.get(
    "/api/inference/metrics",
    {
      schema: {
        summary: "How each deployment that runs, and that the caller may read, does now",
        ...{ tags, response: responses(200, DeploymentMetricsList) },
      },
      config: { access: { action: "job.list" }, audit: { none: "status" } },
    },
    async (request) => {
      const { rows } = await authorize(request, "job.list", "rows");
      const running = { state: "RUNNING", limit: MAX_LISTED };
      const { jobs } = lists.page(rows, { are: DEPLOYMENT_KINDS }, running);
      const uses = deviceUses();
      const found = jobs.flatMap(({ id }) => kernel.job(id) ?? []);
      return { deployments: found.map((job) => metricsOf(job, uses)) };
    },
  );

  app.get(
    "/api/inference/usage",
    {
      schema: {
        summary: "Calls and tokens by day, deployment and key, of what the caller may read",
        ...{ tags, querystring: UsageQuery, response: responses(200, UsageReply) },
      },
      config: { access: { action: "job.list" }, audit: { none: "status" } },
    },
    async (request) => {
      const { rows } = await authorize(request, "job.list", "rows");
      const { project } = request.query;
      if (project !== undefined) inProject(request, read, callerOfRequest(request), project);
      const usage = readUsage(read, rows, request.query);
      return { usage: usage.slice(0, MAX_USAGE_ROWS), isCut: usage.length > MAX_USAGE_ROWS };
    },
  );

  function metricsOf(job: JobView, uses: readonly DeviceUse[]): DeploymentMetrics {
    const serving = deployments.state(job.id);
    return {
      ...{ id: job.id, name: job.name, projectId: job.projectId },
      status: deploymentStatus(job, serving?.state ?? null),
      serving: serving === null ? null : servingReply(serving),
      devices: job.members.flatMap(({ id, workerIds, state }) =>
        uses
          .filter(({ worker }) => state === "RUNNING" && workerIds.includes(worker))
          .map((use) => ({
            ...{ replica: id, worker: use.worker, memoryBytes: use.memoryInUseBytes },
            usePercent: use.utilizationPercent ?? null,
          })),
      ),
      figures: watch.figures(job.id),
    };
  }
};
