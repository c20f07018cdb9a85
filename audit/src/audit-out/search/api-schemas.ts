/** What may be asked on the search socket. Values are bounded; whatever else stands in a query is refused. */
import { EVENT_TYPES } from "@resontech/contracts/audit-catalogue";
import { Code, EVENT_PHASES, OBJECT_KINDS, PlainId, ProducerName, Uuid } from "@resontech/contracts/audit-event";
import { type Static, Type } from "typebox";

const closed = { additionalProperties: false } as const;
/** UTC; milliseconds may be left out. */
const Instant = Type.String({ pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{3})?Z$" });
export const MAX_PAGE = 1_000;
const MAX_DAYS = 400;

export const EventsQuery = Type.Object(
  {
    type: Type.Optional(Type.Enum(EVENT_TYPES)),
    prod: Type.Optional(ProducerName),
    phase: Type.Optional(Type.Enum([...EVENT_PHASES])),
    outcome: Type.Optional(Code),
    op: Type.Optional(Uuid),
    /** Who acted. */
    actor: Type.Optional(PlainId),
    kind: Type.Optional(Type.Enum([...OBJECT_KINDS])),
    /** Id of what it was done to. */
    object: Type.Optional(PlainId),
    /** Only what this subject did, or what was done for it: set it for everybody who may see no more. */
    sub: Type.Optional(PlainId),
    /** Not before, by auditd's clock. */
    from: Type.Optional(Instant),
    /** Before. */
    to: Type.Optional(Instant),
    order: Type.Enum(["newest", "oldest"], { default: "newest" }),
    limit: Type.Integer({ minimum: 1, maximum: MAX_PAGE, default: 100 }),
    cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  },
  closed,
);
export type EventsQuery = Static<typeof EventsQuery>;

export const EventParams = Type.Object({ index: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }) }, closed);
export const EventQuery = Type.Object(
  {
    /** @default the newest shard */
    shard: Type.Optional(Type.String({ pattern: "^[0-9]{4}(-[1-9][0-9]{0,3})?$" })),
    sub: Type.Optional(PlainId),
  },
  closed,
);

export const StatsQuery = Type.Object({ days: Type.Integer({ minimum: 1, maximum: MAX_DAYS, default: 31 }) }, closed);
