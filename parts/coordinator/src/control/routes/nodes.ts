/** What the host's root alone does to nodes; draining one is an administrator's as well. */
import type { NodeDetailReply } from "@resontech/contracts/http-nodes";
import type { FastifyInstance } from "fastify";
import { ApiError } from "../../api-error.ts";
import type { GroupCommit } from "../../db/group-commit.ts";
import { changeNode } from "../../http/change-node.ts";
import { inviteNode, type MakeJoinToken } from "../../http/invite-node.ts";
import type { NodeRoutesDeps } from "../../http/routes/nodes.ts";
import type { NodeRemoval } from "../../nodes/node-removal.ts";
import type { NodeUpgrades } from "../../nodes/node-upgrades.ts";
import { answerOperator } from "../answer-operator.ts";

export type OperatorNodeDeps = {
  nodes: Pick<NodeRoutesDeps["nodes"], "find" | "cordon">;
  commit: GroupCommit;
  /** Inside a commit. */
  removal: Pick<NodeRemoval, "evict" | "remove">;
  upgrades: Pick<NodeUpgrades, "plan" | "replaceOrders" | "note" | "facts">;
  invite: MakeJoinToken;
};

export async function operatorNodeRoutes(
  app: FastifyInstance,
  { nodes, commit, removal, upgrades, invite }: OperatorNodeDeps,
): Promise<void> {
  answerOperator(
    app,
    "join-token",
    { action: "node.invite", audit: { event: "iam.node.join-token" } },
    async (asked, request) => await inviteNode(request, invite, asked),
  );

  answerOperator(
    app,
    "node-releases",
    { action: "node.list", audit: { none: "status" } },
    async () => ({ releases: upgrades.facts() }),
  );

  answerOperator(
    app,
    "node-evict",
    { action: "node.evict", audit: { event: "iam.node.change" } },
    async ({ id: node }, request) => {
      requireNode(node);
      await changeNode(request, commit, { node, change: "evicted" }, () => {
        nodes.cordon(node, "drained by the operator");
        removal.evict(node);
      });
      return { node, members: requireNode(node).members.length };
    },
  );

  answerOperator(
    app,
    "node-remove",
    { action: "node.remove", audit: { event: "iam.node.change" } },
    async ({ id: node }, request) => {
      requireNode(node);
      await changeNode(request, commit, { node, change: "removed" }, () => removal.remove(node));
      return {};
    },
  );

  /**
   * Each node's order is on record of its own; how it ends is the release with which the node registers. Broken off between two nodes, the rest is
   * not ordered, and the same request goes on.
   */
  answerOperator(
    app,
    "node-upgrade",
    {
      action: "node.upgrade",
      audit: { event: "iam.node.change", loggedBy: "each node's order, where there is one" },
    },
    async ({ nodes: named, except }, request) => {
      const plan = upgrades.plan(named, except);
      await commit.run(() => upgrades.replaceOrders(plan));
      for (const wanted of plan.requests)
        await changeNode(
          request,
          commit,
          { node: wanted.node, change: "upgrade-ordered", release: plan.release },
          () => upgrades.note(plan, wanted),
        );
      const { release, underWay, current, leftOut } = plan;
      const ordered = [...underWay, ...plan.requests.map(({ node }) => node)];
      return { release, ordered, current, leftOut };
    },
  );

  /** @throws ApiError not_found */
  function requireNode(id: string): NodeDetailReply {
    const found = nodes.find(id);
    if (found === null) throw new ApiError("not_found", `there is no node ${id}`);
    return found;
  }
}
