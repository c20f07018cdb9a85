import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { HealthReply, ReadyReply } from "@resontech/contracts/http-identity";
import { Type } from "typebox";

/** Resolves when the part works; a part that does not answer within the deadline is unavailable. */
export type ReadinessChecks = Record<string, () => Promise<unknown>>;

const DEADLINE_MS = 2_000;
const config = {
  access: { public: "the supervisor asks without a credential; nothing is told but which parts work" },
  audit: { none: "status" },
} as const;

export const healthRoutes: FastifyPluginAsyncTypebox<{ checks: ReadinessChecks }> = async (app, { checks }) => {
  app.get(
    "/healthz",
    { logLevel: "warn", schema: { summary: "The process answers", tags: ["health"], response: { 200: HealthReply } }, config },
    async () => ({ status: "ok" as const }),
  );

  app.get(
    "/readyz",
    {
      logLevel: "warn",
      schema: { summary: "The parts that a request needs", tags: ["health"], response: { 200: ReadyReply, 503: ReadyReply } },
      config,
    },
    async (_, reply) => {
      const entries = await Promise.all(
        Object.entries(checks).map(
          async ([name, check]): Promise<[string, ReadyReply["parts"][string]]> => [name, await stateOf(check)],
        ),
      );
      const ready = entries.every(([, state]) => state === "ok");
      return reply.code(ready ? 200 : 503).send({ ready, parts: Object.fromEntries(entries) });
    },
  );

  app.get(
    "/api/openapi.json",
    {
      schema: {
        summary: "This API",
        tags: ["health"],
        response: { 200: Type.Object({}, { additionalProperties: true }) },
      },
      config: { access: { public: "the description holds no data" }, audit: { none: "catalogue" } },
    },
    async () => app.swagger(),
  );
};

async function stateOf(check: () => Promise<unknown>): Promise<ReadyReply["parts"][string]> {
  const late = Promise.withResolvers<"unavailable">();
  const timer = setTimeout(() => late.resolve("unavailable"), DEADLINE_MS);
  try {
    return await Promise.race([check().then(() => "ok" as const), late.promise]);
  } catch {
    return "unavailable";
  } finally {
    clearTimeout(timer);
  }
}
