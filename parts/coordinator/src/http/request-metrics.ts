import fp from "fastify-plugin";
import type { RequestCounter } from "../metrics/request-counter.ts";

const MS = 1_000;

/** Counts each answer. A WebSocket has none of its own: it is counted by nobody. */
export const requestMetrics = fp<{ metrics: { requests: RequestCounter } }>(
  async (app, { metrics }) => {
    app.addHook("onResponse", async (request, reply) => {
      const route = request.is404 ? null : (request.routeOptions.url ?? null);
      metrics.requests.answered(request.method, route, reply.statusCode, reply.elapsedTime / MS);
    });
  },
  { name: "request-metrics" },
);
