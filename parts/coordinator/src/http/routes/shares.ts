/** Shares of the fleet: who is guaranteed what, and who holds, lends and borrows now. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { IdParam } from "@resontech/contracts/http-common";
import { ShareBody, SharesReply, StandingShareReply } from "@resontech/contracts/http-shares";
import { Type } from "typebox";
import { isInFilter } from "../../db/row-filter.ts";
import type { WorkerView } from "../../kernel/fleet-view.ts";
import { amountsOf } from "../../kernel/decisions/shares.ts";
import type { ShareTable, ShareView } from "../../kernel/share-table.ts";
import { type OtherShares, visibleShares } from "../../shares/decisions/visible-shares.ts";
import type { ShareChanges } from "../../shares/share-changes.ts";
import { authorize } from "../authorization.ts";
import { responses } from "../responses.ts";

export type ShareRoutesDeps = {
  shares: Pick<ShareTable, "isSet" | "views" | "find">;
  shareChanges: Pick<ShareChanges, "make">;
  workers: () => readonly WorkerView[];
};

const tags = ["shares"];
const Params = Type.Object({ id: IdParam }, { additionalProperties: false });

export const shareRoutes: FastifyPluginAsyncTypebox<ShareRoutesDeps> = async (
  app,
  { shares, shareChanges, workers },
) => {
  const views = () => shares.views(amountsOf(workers().filter(({ status }) => status === "free")));

  app.get(
    "/api/shares",
    {
      schema: {
        summary:
          "Shares of the caller's projects and of all above them; of what is beside them the sum. Administrators and auditors see all",
        ...{ tags, response: responses(200, SharesReply) },
      },
      config: { access: { action: "share.read" }, audit: { none: "status" } },
    },
    async (request) => {
      const { rows } = await authorize(request, "share.read", "rows");
      const { seen, others } =
        rows === "all"
          ? { seen: views(), others: [] }
          : visibleShares(views(), (projectId) => isInFilter(rows, { projectId }));
      return {
        isSet: shares.isSet,
        fleet: fleetOf(workers()),
        shares: [...seen.map(shareReply), ...others.map(othersReply)],
      };
    },
  );

  app.put(
    "/api/shares/:id",
    {
      schema: {
        summary:
          "Set a guarantee, a limit or a weight. What takes workers from somebody's guarantee is asked for by POST /api/approvals",
        ...{ tags, params: Params, body: ShareBody, response: responses(200, StandingShareReply) },
      },
      config: { access: { action: "share.set" }, audit: { event: "admin.shares" } },
    },
    async (request) => {
      const { id } = request.params;
      await shareChanges.make(request.audit, id, request.body, { mayLower: false });
      return shareReply(views().find((one) => one.id === id)!);
    },
  );
};

function fleetOf(workers: readonly WorkerView[]): SharesReply["fleet"] {
  return [...Map.groupBy(workers, ({ model }) => model)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([model, of]) => ({
      ...{ model, workers: of.length },
      free: of.filter(({ status }) => status === "free").length,
    }));
}

function shareReply({ used, ...share }: ShareView): StandingShareReply {
  return { ...share, recentUse: used };
}

function othersReply({ used, ...others }: OtherShares): StandingShareReply {
  return {
    ...{ ...others, id: null, kind: "others", name: null, limit: {}, weight: null },
    ...{ personRunning: null, personQueued: null, interactiveIdleMinutes: null },
    recentUse: used,
  };
}
