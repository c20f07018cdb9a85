/** Platform keys of all users, as the operator sees and changes them. A key's secret is never told again. */
import { type Static, Type } from "typebox";
import { closed } from "../closed.ts";
import { IdParam, Instant } from "../http/http-common.ts";
import { Nullable } from "../nullable.ts";
import { AskedName, operatorRoute } from "./operator-route.ts";

/** Days of a key's further life. */
const MAX_KEY_DAYS = 366;
/** Or how the id begins. */
const OfKey = Type.Object({ key: IdParam }, closed);

export const KeyFacts = Type.Object(
  {
    key: Type.String(),
    username: Type.String(),
    name: Type.String(),
    /** What is told of the key itself: `rsk_live_ab…wxyz`. */
    handle: Type.String(),
    state: Type.Enum(["living", "expired", "revoked"]),
    expiresAt: Instant,
    lastUsedAt: Nullable(Instant),
  },
  closed,
);
export type KeyFacts = Static<typeof KeyFacts>;

export const KEY_ROUTES = {
  /** All users' keys, or one's. */
  "key-list": operatorRoute({
    ...{ method: "GET", path: "/api/operator/keys" },
    query: Type.Object({ username: Type.Optional(AskedName) }, closed),
    answer: Type.Object({ keys: Type.Array(KeyFacts) }, closed),
  }),
  /** The same secret lives so many days from now on; a key that has expired lives again, one that was revoked never. */
  "key-renew": operatorRoute({
    ...{ method: "POST", path: "/api/operator/keys/:key/renew", params: OfKey },
    body: Type.Object({ days: Type.Integer({ minimum: 1, maximum: MAX_KEY_DAYS }) }, closed),
    answer: Type.Object({ key: Type.String(), expiresAt: Instant }, closed),
  }),
  "key-revoke": operatorRoute({
    ...{ method: "DELETE", path: "/api/operator/keys/:key", params: OfKey },
    answer: Type.Object({ key: Type.String() }, closed),
  }),
} as const;
