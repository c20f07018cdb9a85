/** How the appliance does, for its administrator: what the coordinator knows of itself and of those that it works with. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import type { ApplianceFacts } from "@resontech/contracts/appliance-facts";
import { ApplianceReply } from "@resontech/contracts/http-appliance";
import type { CoordinatorHealth } from "@resontech/contracts/coordinator-health";
import type { Kernel } from "../../kernel/kernel.ts";
import { policiesInForce } from "../../authorization/policies-in-force.ts";
import { toldFindings } from "../../findings/told-findings.ts";
import { hostReply } from "../decisions/host-reply.ts";
import { responses } from "../responses.ts";
import type { NodeRoutesDeps } from "./nodes.ts";

export type ApplianceRoutesDeps = Pick<NodeRoutesDeps, "nodes"> & {
  version: string;
  kernel: Pick<Kernel, "status">;
  health: () => Promise<CoordinatorHealth>;
  /** What the supervisor wrote last; null where none did. */
  hostFacts: () => ApplianceFacts | null;
  now: () => number;
};

export const applianceRoutes: FastifyPluginAsyncTypebox<ApplianceRoutesDeps> = async (
  app,
  { version, kernel, health, nodes, hostFacts, now },
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
      const told = await health();
      const { bus, audit, database, storage, loopLagMs, brake, plannedStopUntil, ...rest } = told;
      const facts = hostFacts();
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
        findings: toldFindings(told, facts, now()),
        host: facts === null ? null : hostReply(facts),
      };
    },
  );
};
