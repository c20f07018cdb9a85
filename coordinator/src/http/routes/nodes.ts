/** Nodes: what a platform administrator sees and changes of them, and how a host becomes one. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { JoinReply, JoinRequest } from "@resontech/contracts/agent-protocol";
import type { EventDetail } from "@resontech/contracts/audit-catalogue";
import { IdParam } from "@resontech/contracts/http-common";
import {
  InviteNodeBody,
  InviteNodeReply,
  NodeChangedReply,
  NodeDetailReply,
  NodeReply,
} from "@resontech/contracts/http-nodes";
import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { ApiError } from "../../api-error.ts";
import type { GroupCommit } from "../../db/group-commit.ts";
import { requireNodeId } from "../../nodes/join-tokens.ts";
import { authorize, authorizedRow } from "../authorization.ts";
import { responses } from "../responses.ts";

export type NodeRoutesDeps = {
  nodes: {
    list: () => NodeReply[];
    /** Null for one that is not there. */
    find: (node: string) => NodeDetailReply | null;
    /** Out of placement for a reason, or back for null. Inside a commit. */
    cordon: (node: string, reason: string | null) => void;
    /** A one-use token, stored as its hash; logs what it does. `expiresAt` in Unix milliseconds. */
    invite: (node: string, ttlS: number) => Promise<{ token: string; expiresAt: number }>;
    /** What the host of this name runs; null where none can. */
    joinCommand: (node: string) => Promise<string | null>;
  };
  commit: GroupCommit;
  /** Signs the request once its token is used up; logs what it does. */
  join: (request: JoinRequest, source: string) => Promise<JoinReply>;
};

const tags = ["nodes"];
const params = Type.Object({ id: IdParam }, { additionalProperties: false });
const DRAINED = "drained by an administrator";

export const nodeRoutes: FastifyPluginAsyncTypebox<NodeRoutesDeps> = async (app, deps) => {
  const { nodes, commit } = deps;

  app.get(
    "/api/nodes",
    {
      schema: {
        summary: "Nodes, their state and how many of their workers are held",
        ...{ tags, response: responses(200, Type.Array(NodeReply)) },
      },
      config: { access: { action: "node.list" }, audit: { none: "status" } },
    },
    async (request) => {
      await authorize(request, "node.list", "every");
      return nodes.list();
    },
  );

  app.get(
    "/api/nodes/:id",
    {
      schema: {
        summary: "One node with its workers and the members of jobs on it",
        ...{ tags, params, response: responses(200, NodeDetailReply) },
      },
      config: { access: { action: "node.read" }, audit: { none: "status" } },
    },
    async (request) => {
      const found = nodes.find(request.params.id);
      await authorizedRow(request, "node.read", found === null ? null : { node: found.node.node });
      if (found === null) throw new ApiError("not_found", "there is no such node");
      return found;
    },
  );

  for (const [verb, action, summary, change, reason] of [
    [
      ...["drain", "node.drain"],
      "Take a node out of placement: what runs there runs to its end",
      ...["drained", DRAINED],
    ],
    ["undrain", "node.undrain", "Give a node back to placement", "undrained", null],
  ] as const)
    app.post(
      `/api/nodes/:id/${verb}`,
      {
        schema: { summary, tags, params, response: responses(200, NodeChangedReply) },
        config: { access: { action }, audit: { event: "iam.node.change" } },
      },
      async (request) => {
        const { id } = request.params;
        const row = nodes.find(id) === null ? null : { node: id };
        await authorizedRow(request, action, row);
        await changeNode(request, id, change, () => nodes.cordon(id, reason));
        return { node: id, members: nodes.find(id)?.members.length ?? 0 };
      },
    );

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
      requireNodeId(node);
      const { token, expiresAt } = await request.audit.operation(
        {
          type: "iam.node.join-token",
          object: { kind: "node", id: node },
          detail: { ttl_s: ttlS },
        },
        () => nodes.invite(node, ttlS),
      );
      const expires = new Date(expiresAt).toISOString();
      const command = await nodes.joinCommand(node);
      return reply.code(201).send({ node, token, expiresAt: expires, command });
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
        return await deps.join(request.body, request.peer);
      } catch (error) {
        if (error instanceof ApiError && error.code === "join_token_invalid")
          return request.refuseCredential(error.code, error.message);
        throw error;
      }
    },
  );

  async function changeNode(
    request: FastifyRequest,
    node: string,
    change: EventDetail<"iam.node.change">["change"],
    apply: () => void,
  ): Promise<void> {
    await request.audit.operation(
      { type: "iam.node.change", object: { kind: "node", id: node }, detail: { change } },
      (operation) =>
        commit.run((db) => {
          apply();
          operation.completeIn(db);
        }),
    );
  }
};
