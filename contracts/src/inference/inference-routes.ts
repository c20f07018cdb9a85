/**
 * Between the coordinator and the inference gateway, on a socket that the gateway's group alone can open: one JSON object a line, whole each time. The
 * coordinator tells who answers, at each change and every {@link ROUTES_EVERY_MS}; the gateway tells what it has under way. The gateway serves on
 * without the coordinator for as long as leases live.
 */
import { type Static, Type } from "typebox";
import { VISIBILITIES } from "./visibilities.ts";
import { DEPLOYMENT_STATES } from "./deployment-states.ts";
import { OPENAI_ENGINES } from "./openai-fields.ts";
import { closed } from "../closed.ts";
import { Nullable } from "../nullable.ts";

export const ROUTES_EVERY_MS = 5_000;
/** Without a word for so long nothing is known to live. */
export const ROUTES_LIFE_MS = 30_000;
export const MAX_ROUTES_LINE_BYTES = 8 * 1024 ** 2;
/** The gateway tells at each change, at most so often, and at least every {@link REPORT_EVERY_MS}. */
export const REPORT_AFTER_MS = 50;
export const REPORT_EVERY_MS = 1_000;
/** A gateway that says nothing for so long is not there. */
export const REPORT_LIFE_MS = 10_000;

/** What its replicas answer: `/predict`, the OpenAI API (openai-surface.ts), or paths of a program's own. */
export const DEPLOYMENT_APIS = ["predict", "openai", "own"] as const;
export type DeploymentApi = (typeof DEPLOYMENT_APIS)[number];

const Sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });
const Count = Type.Integer({ minimum: 0 });

const Limit = Nullable(Type.Integer({ minimum: 1 }));
/** Of each key by itself; null: no limit. */
export const KeyLimits = Type.Object(
  {
    requestsPerMinute: Limit,
    /** Sent and answered together. */
    tokensPerMinute: Limit,
    /** Calls at once, those that wait with them. */
    concurrency: Limit,
  },
  closed,
);
export type KeyLimits = Static<typeof KeyLimits>;
/** Of a deployment: of its own key, and of each platform key. */
export const DeploymentLimits = Type.Object({ ownKey: KeyLimits, platformKeys: KeyLimits }, closed);
export type DeploymentLimits = Static<typeof DeploymentLimits>;

export const Route = Type.Object(
  {
    deployment: Type.String(),
    /** As it was deployed: clients of the OpenAI API name it as their model. */
    name: Type.String(),
    api: Type.Enum([...DEPLOYMENT_APIS]),
    /** Of one that answers the OpenAI API; absent where a coordinator does not say. */
    engine: Type.Optional(Type.Enum([...OPENAI_ENGINES])),
    /** Milliseconds since 1970. */
    createdAt: Type.Integer({ minimum: 0 }),
    project: Type.String(),
    /** Addresses of deployments whose place it has taken. They may stand in the table themselves while their last calls end. */
    aliases: Type.Array(Type.String()),
    /** Names of the same deployments, where they were others: clients of the OpenAI API may go on with them. */
    formerNames: Type.Optional(Type.Array(Type.String())),
    /** Of the predict key. */
    keySha256: Sha256,
    visibility: Type.Enum([...VISIBILITIES]),
    /** Of each replica. */
    maxOngoingRequests: Type.Integer({ minimum: 1 }),
    /** Tokens of one call, sent and answered; absent where none are counted. */
    contextTokens: Type.Optional(Type.Integer({ minimum: 1 })),
    /** Where answers are posted as well. Absent: this deployment's can't be signed, and are posted nowhere. */
    callback: Type.Optional(
      Type.Object(
        {
          /** Null: a call may name one of its own. */
          url: Nullable(Type.String()),
          /** Signs what is posted; hex. Whoever has the predict key can derive it. */
          secret: Sha256,
        },
        closed,
      ),
    ),
    /** Absent: none. */
    limits: Type.Optional(DeploymentLimits),
    /** Grows with each change of the deployment; what the gateway reports names the one that it follows. */
    generation: Count,
    state: Type.Enum([...DEPLOYMENT_STATES]),
    /** Milliseconds that a wake takes, 95 times in 100. */
    wakeMs: Count,
    replicas: Type.Array(
      Type.Object(
        {
          member: Type.String(),
          node: Type.String(),
          host: Type.String(),
          port: Type.Integer({ minimum: 1, maximum: 65_535 }),
          /** Of the node whose agent listens there. */
          certificateSha256: Sha256,
          /** False: it ends what it has, and is given nothing new. */
          isOpen: Type.Boolean(),
        },
        closed,
      ),
    ),
  },
  closed,
);
export type Route = Static<typeof Route>;

/** More living keys with the scope are not told: the newest are. */
export const MAX_CALLER_KEYS = 20_000;
/** A platform key with the scope `infer`: it may call what its project has deployed, and whatever is PUBLIC. */
export const CallerKey = Type.Object(
  {
    id: Type.String(),
    sha256: Sha256,
    project: Type.String(),
    /** Milliseconds since 1970. */
    expiresAt: Count,
  },
  closed,
);
export type CallerKey = Static<typeof CallerKey>;

export const RouteTable = Type.Object(
  {
    routes: Type.Array(Route),
    /** Absent: no platform key calls anything. */
    keys: Type.Optional(Type.Array(CallerKey, { maxItems: MAX_CALLER_KEYS })),
  },
  closed,
);
export type RouteTable = Static<typeof RouteTable>;

/** How long the first call that met a deployment without an open replica waited, from its head to the first byte of its answer. */
export const WokenCall = Type.Object(
  {
    /** Of the route by which it was led: each wake makes a newer one. */
    generation: Count,
    /** Of the route that it met. */
    from: Type.Enum(["SLEEPING", "COLD"]),
    ms: Count,
  },
  closed,
);
export type WokenCall = Static<typeof WokenCall>;

/** What one gateway has of one deployment. */
export const CallCounts = Type.Object(
  {
    deployment: Type.String(),
    /** Of the route that it follows: nothing new goes where that one is closed. */
    generation: Count,
    /** Calls that wait for a replica. */
    queued: Count,
    inFlight: Type.Array(
      Type.Object({ member: Type.String(), calls: Type.Integer({ minimum: 1 }) }, closed),
    ),
    /** Milliseconds since the last call ended; null where none has. */
    idleMs: Nullable(Count),
    /** Of the last wake that such a call was answered after; absent before the first one. */
    woken: Type.Optional(WokenCall),
  },
  closed,
);
export type CallCounts = Static<typeof CallCounts>;
export const CallReport = Type.Object({ deployments: Type.Array(CallCounts) }, closed);
export type CallReport = Static<typeof CallReport>;
