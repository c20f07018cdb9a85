/** What was used over time: of a job's members and a deployment's calls for whoever may read the job, of nodes for whoever may see them. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { IdParam } from "@resontech/contracts/http-common";
import { UseQuery, UseReply } from "@resontech/contracts/http-use";
import { Type } from "typebox";
import { ApiError } from "../../api-error.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { UseCurves } from "../../use/use-curves.ts";
import { authorize, authorizedRow } from "../authorization.ts";
import { asDeployment } from "../decisions/deployment-replies.ts";
import { responses } from "../responses.ts";
import type { NodeRoutesDeps } from "./nodes.ts";

export type UseRoutesDeps = {
  kernel: Pick<Kernel, "job">;
  nodes: Pick<NodeRoutesDeps["nodes"], "find">;
  useCurves: Pick<UseCurves, "ofJob" | "ofDeployment" | "ofNode" | "ofFleet">;
};

const params = Type.Object({ id: IdParam }, { additionalProperties: false });
const querystring = UseQuery;
const response = responses(200, UseReply);
const audit = { none: "status" } as const;

export const useRoutes: FastifyPluginAsyncTypebox<UseRoutesDeps> = async (
  app,
  { kernel, nodes, useCurves },
) => {
  app.get(
    "/api/jobs/:id/use",
    {
      schema: {
        summary: "Processors, memory, disk, network and devices that a job's members used",
        ...{ tags: ["jobs"], params, querystring, response },
      },
      config: { access: { action: "job.read" }, audit },
    },
    async (request) => {
      const job = await authorizedRow(request, "job.read", kernel.job(request.params.id));
      return await useCurves.ofJob(job, request.query);
    },
  );

  app.get(
    "/api/inference/jobs/:id/use",
    {
      schema: {
        summary: "Calls, their times, tokens and replicas of a deployment, over time",
        ...{ tags: ["inference"], params, querystring, response },
      },
      config: { access: { action: "job.read" }, audit },
    },
    async (request) => {
      const deployment = asDeployment(kernel.job(request.params.id));
      const { id } = await authorizedRow(request, "job.read", deployment);
      return await useCurves.ofDeployment(id, request.query);
    },
  );

  app.get(
    "/api/nodes/:id/use",
    {
      schema: {
        summary: "Processors, memory, disk, network and devices of a node, over time",
        ...{ tags: ["nodes"], params, querystring, response },
      },
      config: { access: { action: "node.read" }, audit },
    },
    async (request) => {
      const { id } = request.params;
      const isThere = nodes.find(id) !== null;
      await authorize(request, "node.read", isThere ? { node: id } : "every");
      if (!isThere) throw new ApiError("not_found", `there is no node ${id}`);
      return await useCurves.ofNode(id, request.query);
    },
  );

  app.get(
    "/api/use",
    {
      schema: {
        summary: "Processors, memory, disks and devices of all nodes together, over time",
        ...{ tags: ["nodes"], querystring, response },
      },
      config: { access: { action: "node.list" }, audit },
    },
    async (request) => {
      await authorize(request, "node.list", "every");
      return await useCurves.ofFleet(request.query);
    },
  );
};
