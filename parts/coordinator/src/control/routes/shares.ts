/** Shares of the fleet: who is guaranteed what. */
import type { FastifyInstance } from "fastify";
import type { GroupCommit } from "../../db/group-commit.ts";
import type { ShareTable } from "../../kernel/share-table.ts";
import { ShareChanges } from "../../shares/share-changes.ts";
import { answerOperator } from "../answer-operator.ts";

export type OperatorShareDeps = { commit: GroupCommit; shares: ShareTable };

export async function operatorShareRoutes(
  app: FastifyInstance,
  { commit, shares }: OperatorShareDeps,
): Promise<void> {
  const changes = new ShareChanges(commit, shares);
  answerOperator(
    app,
    "share-list",
    { action: "share.list", audit: { none: "status" } },
    async () => ({
      shares: shares.facts(),
    }),
  );

  answerOperator(
    app,
    "share-set",
    { action: "share.set", audit: { event: "admin.shares" } },
    async ({ id, ...change }, request) => {
      // Whoever is root could write it into the database as well.
      await changes.make(request.audit, id, change, { mayLower: true });
      return shares.facts().find((one) => one.id === id)!;
    },
  );
}
