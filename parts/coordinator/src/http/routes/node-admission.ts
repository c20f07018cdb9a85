/** How a host becomes a node: a one-use token, and what it is exchanged for. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { JoinReply, JoinRequest } from "@resontech/contracts/agent-protocol";
import { InviteNodeBody, InviteNodeReply } from "@resontech/contracts/http-nodes";
import { ApiError } from "../../api-error.ts";
import { authorize } from "../authorization.ts";
import { inviteNode, type MakeJoinToken } from "../invite-node.ts";
import { responses } from "../responses.ts";

export type NodeAdmissionDeps = {
  invite: MakeJoinToken;
  /** What the host of this name runs; null where none can. */
  joinCommand: (node: string) => Promise<string | null>;
  /** Signs the request once its token is used up; logs what it does. */
  join: (request: JoinRequest, source: string) => Promise<JoinReply>;
};

const tags = ["nodes"];

export const nodeAdmissionRoutes: FastifyPluginAsyncTypebox<NodeAdmissionDeps> = async (
  app,
  { invite, joinCommand, join },
) => {
  app.post(
    "/api/nodes/invitations",
    {
      schema: {
        summary: "Make a one-use token, by which a host becomes the node of this name",
        ...{ tags, body: InviteNodeBody, response: responses(201, InviteNodeReply) },
      },
      config: { access: { action: "node.invite" }, audit: { event: "iam.node.join-token" } },
    },
    async (request, reply) => {
      const { node, ttlS } = request.body;
      await authorize(request, "node.invite", { node });
      const invited = await inviteNode(request, invite, { node, ttlS });
      const command = await joinCommand(node);
      return reply.code(201).send({ node, ...invited, command });
    },
  );

  app.post(
    "/api/nodes/join",
    {
      schema: {
        summary: "Admit a node by its one-use token",
        ...{ tags, body: JoinRequest, response: responses(200, JoinReply) },
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
        return await join(request.body, request.peer);
      } catch (error) {
        if (error instanceof ApiError && error.code === "join_token_invalid")
          return request.refuseCredential(error.code, error.message);
        throw error;
      }
    },
  );
};
