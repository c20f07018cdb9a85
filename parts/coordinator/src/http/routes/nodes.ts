/** Nodes: what a platform administrator and the host's root see and change of them. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { IdParam } from "@resontech/contracts/http-common";
import { NodeChangedReply, NodeDetailReply, NodeReply } from "@resontech/contracts/http-nodes";
import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { ApiError } from "../../api-error.ts";
import { isUserCaller } from "../../authorization/caller.ts";
import type { GroupCommit } from "../../db/group-commit.ts";
import { authorize } from "../authorization.ts";
import { changeNode } from "../change-node.ts";
import { responses } from "../responses.ts";

export type NodeRoutesDeps = {
  nodes: {
    list: () => NodeReply[];
    /** Null for one that is not there. */
    find: (node: string) => NodeDetailReply | null;
    /** Out of placement for a reason, or back for null. Inside a commit. */
    cordon: (node: string, reason: string | null) => void;
  };
  commit: GroupCommit;
};

const tags = ["nodes"];
const params = Type.Object({ id: IdParam }, { additionalProperties: false });

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
    async (request) => await authorizedNode(request, "node.read", request.params.id),
  );

  for (const [verb, action, summary, change] of [
    [
      ...["drain", "node.drain"],
      ...["Take a node out of placement: what runs there runs to its end", "drained"],
    ],
    ["undrain", "node.undrain", "Give a node back to placement", "undrained"],
  ] as const)
    app.post(
      `/api/nodes/:id/${verb}`,
      {
        schema: { summary, tags, params, response: responses(200, NodeChangedReply) },
        config: { access: { action }, audit: { event: "iam.node.change" } },
      },
      async (request) => {
        const { id } = request.params;
        await authorizedNode(request, action, id);
        const reason = change === "drained" ? drainedBy(request) : null;
        await changeNode(request, commit, { node: id, change }, () => nodes.cordon(id, reason));
        return { node: id, members: nodes.find(id)?.members.length ?? 0 };
      },
    );

  /** @throws ApiError; who may see every node is told which one there is not */
  async function authorizedNode(
    request: FastifyRequest,
    action: "node.read" | "node.drain" | "node.undrain",
    id: string,
  ): Promise<NodeDetailReply> {
    const found = nodes.find(id);
    await authorize(request, action, found === null ? "every" : { node: id });
    if (found === null) throw new ApiError("not_found", `there is no node ${id}`);
    return found;
  }
};

function drainedBy({ caller }: FastifyRequest): string {
  const isUser = caller !== null && isUserCaller(caller);
  return `drained by ${isUser ? "an administrator" : "the operator"}`;
}
