/** Who is guaranteed how many workers, may hold how many at most, and comes first among those that borrow. */
import { type Static, Type } from "typebox";
import { closed } from "../closed.ts";
import { IdParam } from "../http/http-common.ts";
import { Nullable } from "../nullable.ts";
import { operatorRoute } from "./operator-route.ts";

const MAX_WORKERS = 1_000_000;
/** What changes stands in one entry of the log. */
const MOST_MODELS = 16;
/** Workers by model, as `GET /api/gpu-catalog` names it, or `cpu`. */
const Amounts = Type.Record(
  Type.String({ pattern: "^[a-z0-9][a-z0-9._-]{0,63}$" }),
  Type.Integer({ minimum: 0, maximum: MAX_WORKERS }),
  { maxProperties: MOST_MODELS, additionalProperties: false },
);
const Weight = Type.Number({ minimum: 0.01, maximum: 1_000 });

/** @property used workers held on average, each hour half as much as the one that came a day later */
export const ShareFacts = Type.Object(
  {
    id: Type.String(),
    kind: Type.Enum(["organisation", "team", "project"]),
    name: Type.String(),
    parent: Nullable(Type.String()),
    guarantee: Amounts,
    limit: Amounts,
    weight: Weight,
    held: Amounts,
    used: Type.Record(Type.String(), Type.Number()),
  },
  closed,
);
export type ShareFacts = Static<typeof ShareFacts>;

export const SHARE_ROUTES = {
  "share-list": operatorRoute({
    ...{ method: "GET", path: "/api/operator/shares" },
    answer: Type.Object({ shares: Type.Array(ShareFacts) }, closed),
  }),
  /** What is left out stays; an empty guarantee or limit takes it away. */
  "share-set": operatorRoute({
    ...{ method: "PUT", path: "/api/operator/shares/:id" },
    params: Type.Object({ id: IdParam }, closed),
    body: Type.Object(
      {
        guarantee: Type.Optional(Amounts),
        limit: Type.Optional(Amounts),
        weight: Type.Optional(Weight),
      },
      closed,
    ),
    answer: ShareFacts,
  }),
} as const;
