/** Projects of everybody; making one is an administrator's as well. */
import type { FastifyInstance } from "fastify";
import { endMembership, type MembershipDeps } from "../../identity/memberships.ts";
import { answerOperator, lookOnRecord } from "../answer-operator.ts";
import { projectFacts } from "../project-facts.ts";
import type { UserViews } from "../user-views.ts";

export type OperatorProjectDeps = MembershipDeps & { users: Pick<UserViews, "of"> };

export async function operatorProjectRoutes(
  app: FastifyInstance,
  deps: OperatorProjectDeps,
): Promise<void> {
  answerOperator(
    app,
    "project-list",
    { action: "membership.list", audit: { event: "admin.control" } },
    async (_, request) => ({
      projects: await lookOnRecord(request, "project-list", () => projectFacts(deps.read)),
    }),
  );

  answerOperator(
    app,
    "member-remove",
    { action: "membership.end", audit: { event: "iam.project.member" } },
    async ({ project, username }, request) => {
      const { userId } = deps.users.of(username);
      await request.audit.operation(
        {
          type: "iam.project.member",
          object: { kind: "project", id: project },
          detail: { change: "revoke", member: userId },
        },
        (operation) => endMembership(deps, { projectId: project, userId }, operation),
      );
      return {};
    },
  );
}
