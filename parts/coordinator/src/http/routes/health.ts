import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { HealthReply, ReadyReply } from "@resontech/contracts/http-identity";
import { Type } from "typebox";
import { stateOfPart } from "../../state-of-part.ts";

/** Resolves when the part works. */
export type ReadinessChecks = Record<string, () => Promise<unknown>>;

const config = {
  access: {
    public: "the supervisor asks without a credential; nothing is told but which parts work",
  },
  audit: { none: "status" },
  // Whoever watches the process uses up nobody's requests.
  rateLimit: false,
} as const;

export const healthRoutes: FastifyPluginAsyncTypebox<{ checks: ReadinessChecks }> = async (
  app,
  { checks },
) => {
  app.get(
    "/healthz",
    {
      logLevel: "warn",
      schema: { summary: "The process answers", tags: ["health"], response: { 200: HealthReply } },
      config,
    },
    async () => ({ status: "ok" as const }),
  );

  app.get(
    "/readyz",
    {
      logLevel: "warn",
      schema: {
        summary: "The parts that a request needs",
        tags: ["health"],
        response: { 200: ReadyReply, 503: ReadyReply },
      },
      config,
    },
    async (_, reply) => {
      const entries = await Promise.all(
        Object.entries(checks).map(
          async ([name, check]): Promise<[string, ReadyReply["parts"][string]]> => [
            name,
            await stateOfPart(check),
          ],
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
