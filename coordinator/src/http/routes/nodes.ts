import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { JoinReply, JoinRequest } from "@resontech/contracts/agent-protocol";
import { NodeReply } from "@resontech/contracts/http-identity";
import { Type } from "typebox";
import { ApiError } from "../../api-error.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { authorize } from "../authorization.ts";
import { responses } from "../responses.ts";

export type NodeRoutesDeps = {
  kernel: Pick<Kernel, "status">;
  /** Signs the request once its token is used up; logs what it does. */
  join: (request: JoinRequest, source: string) => Promise<JoinReply>;
};

export const nodeRoutes: FastifyPluginAsyncTypebox<NodeRoutesDeps> = async (app, deps) => {
  app.get(
    "/api/nodes",
    {
      schema: {
        summary: "Nodes and their state",
        tags: ["nodes"],
        response: responses(200, Type.Array(NodeReply)),
      },
      config: { access: { action: "node.list" }, audit: { none: "status" } },
    },
    async (request) => {
      await authorize(request, "node.list", "every");
      return deps.kernel.status().nodes;
    },
  );

  app.post(
    "/api/nodes/join",
    {
      schema: {
        summary: "Admit a node by its one-use token",
        tags: ["nodes"],
        body: JoinRequest,
        response: responses(200, JoinReply),
      },
      config: {
        access: {
          action: "node.join",
          credential: "the one-use token in the body",
          decidedBy: "nodes",
        },
        audit: { event: "iam.node.join", loggedBy: "nodes" },
      },
    },
    async (request) => {
      try {
        return await deps.join(request.body, request.peer);
      } catch (error) {
        if (error instanceof ApiError && error.code === "join_token_invalid")
          return request.refuseCredential(error.code, error.message);
        throw error;
      }
    },
  );
};
