/**
 * What the coordinator tells the inference gateway, on a socket that the gateway's group alone can open: one JSON object a line, whole each time,
 * at each change and every {@link ROUTES_EVERY_MS}. The gateway serves on without it for as long as leases live.
 */
import { type Static, Type } from "typebox";
import { closed } from "../http/http-common.ts";
import { VISIBILITIES } from "../http/http-inference.ts";

export const ROUTES_EVERY_MS = 5_000;
/** Without a word for so long nothing is known to live. */
export const ROUTES_LIFE_MS = 30_000;
export const MAX_ROUTES_LINE_BYTES = 8 * 1024 ** 2;

/** What its replicas answer: `/predict`, or the OpenAI API (openai-surface.ts). */
export const DEPLOYMENT_APIS = ["predict", "openai"] as const;

const Sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });

export const Route = Type.Object(
  {
    deployment: Type.String(),
    /** As it was deployed: clients of the OpenAI API name it as their model. */
    name: Type.String(),
    api: Type.Enum([...DEPLOYMENT_APIS]),
    /** Milliseconds since 1970. */
    createdAt: Type.Integer({ minimum: 0 }),
    project: Type.String(),
    /** Of the predict key. */
    keySha256: Sha256,
    visibility: Type.Enum([...VISIBILITIES]),
    /** Of each replica. */
    maxOngoingRequests: Type.Integer({ minimum: 1 }),
    replicas: Type.Array(
      Type.Object(
        {
          member: Type.String(),
          node: Type.String(),
          host: Type.String(),
          port: Type.Integer({ minimum: 1, maximum: 65_535 }),
          /** Of the node whose agent listens there. */
          certificateSha256: Sha256,
        },
        closed,
      ),
    ),
  },
  closed,
);
export type Route = Static<typeof Route>;
export const RouteTable = Type.Object({ routes: Type.Array(Route) }, closed);
export type RouteTable = Static<typeof RouteTable>;
