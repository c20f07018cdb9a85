/**
 * `/api/live`: the change feed over one WebSocket. Each side sends JSON texts.
 *
 * 1. The client says `hello` within {@link HELLO_WITHIN_MS}. A page names its CSRF token, for a browser sends the cookie whoever made the page.
 * 2. It subscribes to topics under numbers of its own. What comes for one names its number.
 * 3. After a broken connection it subscribes again with `since`, the position of the last message that it took.
 */
import { type Static, Type } from "typebox";
import { ERROR_CATALOGUE } from "./error-catalogue.ts";
import { IdParam } from "./http-common.ts";
import { FeedMessage, FeedPosition, FeedTopic } from "./live-feed.ts";
import { closed } from "../closed.ts";

export const HELLO_WITHIN_MS = 5_000;
/** Of one connection. */
export const MAX_SUBSCRIPTIONS = 64;
/** Bytes of one message of a client. */
export const MAX_REQUEST_BYTES = 4_096;

/** Why the appliance closes a connection (RFC 6455 §7.4.2: 4000 to 4999 are an application's own). */
export const LIVE_CLOSE = {
  /** The message is none of this protocol. */
  malformed: 4400,
  /** The session or the credential ended, or another role came: sign in again. */
  signedOut: 4401,
  /** No `hello` in time, or one with a wrong CSRF token. */
  refused: 4403,
  /** The credential has too many connections, or the connection asks too much. */
  tooMany: 4429,
} as const;

const Subscription = Type.Integer({ minimum: 0, maximum: 2 ** 31 });

export const LiveRequest = Type.Union([
  Type.Object(
    { op: Type.Literal("hello"), csrf: Type.Optional(Type.String({ maxLength: 256 })) },
    closed,
  ),
  Type.Object(
    {
      ...{ op: Type.Literal("subscribe"), id: Subscription, topic: FeedTopic },
      since: Type.Optional(FeedPosition),
    },
    closed,
  ),
  Type.Object({ op: Type.Literal("unsubscribe"), id: Subscription }, closed),
]);
export type LiveRequest = Static<typeof LiveRequest>;

export const LiveAnswer = Type.Union([
  Type.Object({ op: Type.Literal("ready"), epoch: IdParam }, closed),
  Type.Object({ op: Type.Literal("told"), id: Subscription, message: FeedMessage }, closed),
  /** The subscription was refused. The others go on. */
  Type.Object(
    {
      ...{ op: Type.Literal("refused"), id: Subscription },
      code: Type.Enum(Object.keys(ERROR_CATALOGUE) as (keyof typeof ERROR_CATALOGUE)[]),
      ...{ message: Type.String(), hint: Type.String() },
    },
    closed,
  ),
]);
export type LiveAnswer = Static<typeof LiveAnswer>;
