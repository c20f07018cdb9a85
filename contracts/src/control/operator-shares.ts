/** Who is guaranteed how many workers, may hold how many at most, and comes first among those that borrow. */
import { type Static, Type } from "typebox";
import { closed } from "../closed.ts";
import { IdParam } from "../http/http-common.ts";
import {
  IdleMinutes,
  PersonLimit,
  ShareAmounts,
  ShareBody,
  ShareWeight,
} from "../http/http-shares.ts";
import { Nullable } from "../nullable.ts";
import { operatorRoute } from "./operator-route.ts";

/** @property used workers held on average, each hour half as much as the one that came a day later */
export const ShareFacts = Type.Object(
  {
    id: Type.String(),
    kind: Type.Enum(["organisation", "team", "project"]),
    name: Type.String(),
    parent: Nullable(Type.String()),
    guarantee: ShareAmounts,
    limit: ShareAmounts,
    weight: ShareWeight,
    personRunning: PersonLimit,
    personQueued: PersonLimit,
    interactiveIdleMinutes: IdleMinutes,
    held: ShareAmounts,
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
    body: ShareBody,
    answer: ShareFacts,
  }),
} as const;
