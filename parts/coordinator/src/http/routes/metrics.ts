/** How the appliance does, for a Prometheus: the appliance's own and the customer's, by a token each. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { Type } from "typebox";
import { PROMETHEUS } from "../../authorization/caller.ts";
import type { Metrics } from "../../metrics/metrics.ts";
import type { MetricsTokens } from "../../metrics/metrics-tokens.ts";
import { authorize } from "../authorization.ts";

export type MetricsRoutesDeps = { metrics: Metrics; metricsTokens: Pick<MetricsTokens, "has"> };

export const metricsRoutes: FastifyPluginAsyncTypebox<MetricsRoutesDeps> = async (
  app,
  { metrics, metricsTokens },
) => {
  app.get(
    "/metrics",
    {
      logLevel: "warn",
      schema: {
        summary: "Figures of parts, nodes, devices and jobs, in Prometheus' text format",
        tags: ["appliance"],
        response: {
          200: {
            description: "Prometheus' text format 0.0.4",
            content: { "text/plain": { schema: Type.String() } },
          },
          "4xx": Type.Ref("Error"),
          "5xx": Type.Ref("Error"),
        },
      },
      config: {
        access: {
          action: "metrics.read",
          credential: "a token for metrics in `Authorization: Bearer`",
        },
        audit: { none: "status" },
      },
    },
    async (request, reply) => {
      const token = /^Bearer ([A-Za-z0-9_-]{1,512})$/i.exec(
        request.headers.authorization ?? "",
      )?.[1];
      if (token === undefined || !metricsTokens.has(token))
        return await request.refuseCredential(
          "metrics_token_invalid",
          "the token for metrics is missing or not valid",
        );
      request.caller = PROMETHEUS;
      await authorize(request, "metrics.read", "every");
      const text = await metrics.text();
      return await reply.type(metrics.contentType).send(text);
    },
  );
};
