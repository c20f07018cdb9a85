/** What became of the host over time, and what to do about its alerts: for whoever runs the appliance. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import {
  DiskForecastReply,
  PastAlertsReply,
  RunbookParam,
  RunbookReply,
} from "@resontech/contracts/http-host-history";
import type { HostHistory } from "../../use/host-history.ts";
import type { Runbooks } from "../../use/runbooks.ts";
import { responses } from "../responses.ts";

export type HostHistoryRoutesDeps = {
  hostHistory: Pick<HostHistory, "disks" | "alerts">;
  runbooks: Pick<Runbooks, "read">;
};

const config = {
  access: { action: "appliance.status" },
  audit: { none: "status" },
} as const;
const tags = ["appliance"];

export const hostHistoryRoutes: FastifyPluginAsyncTypebox<HostHistoryRoutesDeps> = async (
  app,
  { hostHistory, runbooks },
) => {
  app.get(
    "/api/appliance/disks",
    {
      schema: {
        summary: "When each disk of the host fills, if it goes on as in the last week",
        ...{ tags, response: responses(200, DiskForecastReply) },
      },
      config,
    },
    async () => await hostHistory.disks(),
  );

  app.get(
    "/api/appliance/alerts",
    {
      schema: {
        summary: "Alerts that held, as long as figures are kept",
        ...{ tags, response: responses(200, PastAlertsReply) },
      },
      config,
    },
    async () => await hostHistory.alerts(),
  );

  app.get(
    "/api/appliance/runbooks/:name",
    {
      schema: {
        summary: "What to do about an alert, as a page of Markdown",
        ...{ tags, params: RunbookParam, response: responses(200, RunbookReply) },
      },
      config,
    },
    async ({ params: { name } }) => ({ name, text: await runbooks.read(name) }),
  );
};
