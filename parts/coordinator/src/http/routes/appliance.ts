/** How the appliance does, for its administrator: what the coordinator knows of itself and of those that it works with. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { ApplianceReply } from "@resontech/contracts/http-nodes";
import type { CoordinatorHealth } from "@resontech/contracts/coordinator-health";
import type { Kernel } from "../../kernel/kernel.ts";
import { policiesInForce } from "../../authorization/policies-in-force.ts";
import { responses } from "../responses.ts";
import type { NodeRoutesDeps } from "./nodes.ts";

export type ApplianceRoutesDeps = Pick<NodeRoutesDeps, "nodes"> & {
  version: string;
  kernel: Pick<Kernel, "status">;
  health: () => Promise<CoordinatorHealth>;
};

export const applianceRoutes: FastifyPluginAsyncTypebox<ApplianceRoutesDeps> = async (
  app,
  { version, kernel, health, nodes },
) => {
  app.get(
    "/api/appliance",
    {
      schema: {
        summary: "Version, policies, and how each part does that the coordinator works with",
        tags: ["appliance"],
        response: responses(200, ApplianceReply),
      },
      config: { access: { action: "appliance.status" }, audit: { none: "status" } },
    },
    async () => {
      const { bus, audit, database, storage, loopLagMs, brake, plannedStopUntil, ...rest } =
        await health();
      const { state, waiting, oldestWaitMs } = audit;
      return {
        ...{ version, policySet: policiesInForce().sha256, jobs: kernel.status().jobs },
        ...{ bus, database, storage, loopLagMs, brake, plannedStopUntil },
        audit: { state, waiting, oldestWaitMs },
        ...{ hasApprover: rest.hasApprover, endingKeys: rest.endingKeys, nodes: nodes.list() },
        restored: rest.people?.restored ?? [],
        givenNothing: rest.people?.givenNothing ?? [],
        orphanedAccounts: (rest.orphanedAccounts ?? []).map(({ name, project, orphanedAt }) => ({
          ...{ name, project, orphanedAt },
        })),
      };
    },
  );
};
