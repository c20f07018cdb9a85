/** Shares of the fleet: who is guaranteed what. */
import type { FastifyInstance } from "fastify";
import { ApiError } from "../../api-error.ts";
import type { GroupCommit } from "../../db/group-commit.ts";
import type { ShareTable } from "../../kernel/share-table.ts";
import { answerOperator } from "../answer-operator.ts";

export type OperatorShareDeps = { commit: GroupCommit; shares: ShareTable };

export async function operatorShareRoutes(
  app: FastifyInstance,
  { commit, shares }: OperatorShareDeps,
): Promise<void> {
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
      if (!shares.has(id))
        throw new ApiError("not_found", `there is no organisation, team or project ${id}`);
      await request.audit.operation(
        {
          type: "admin.shares",
          object: { kind: "appliance", id: "appliance" },
          detail: {
            share: id,
            ...(change.guarantee === undefined ? {} : { guarantee: listOf(change.guarantee) }),
            ...(change.limit === undefined ? {} : { limit: listOf(change.limit) }),
            ...(change.weight === undefined ? {} : { weight: String(change.weight) }),
          },
        },
        ({ completeIn }) =>
          commit.run((db) => {
            const over = shares.set(id, change);
            if (over !== null)
              throw new ApiError(
                "validation_failed",
                `guarantee: ${over.parent} is guaranteed ${over.guaranteed} workers of ${over.model}, and what is below it would be guaranteed ${over.wanted}`,
              );
            completeIn(db);
          }),
      );
      return shares.facts().find((one) => one.id === id)!;
    },
  );
}

/** By model, the first in the alphabet first. */
function listOf(amounts: Readonly<Record<string, number>>): { model: string; workers: number }[] {
  return Object.entries(amounts)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([model, workers]) => ({ model, workers }));
}
