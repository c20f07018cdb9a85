/** What may be asked on the search socket: what the API lets people ask, and the bound that the asker sets. Whatever else stands in a query is refused. */
import { PlainId } from "@resontech/contracts/audit-event";
import { EVENT_TYPES } from "@resontech/contracts/audit-catalogue";
import {
  AuditEventParams,
  AuditEventQuery,
  AuditIndexQuery,
} from "@resontech/contracts/http-audit";
import { type Static, Type } from "typebox";

const closed = { additionalProperties: false } as const;
const MAX_DAYS = 400;

/** Only what this subject did, or what was done for it: set it for everybody who may see no more. */
const Bound = { sub: Type.Optional(PlainId) };

export const EventsQuery = Type.Object({ ...AuditIndexQuery.properties, ...Bound }, closed);
export type EventsQuery = Static<typeof EventsQuery>;

/** Paths of one question: those of a job's inputs, each with and without its version. */
const MAX_PATHS = 8_192;
const Path = Type.String({ minLength: 2, maxLength: 2_048 });
/** Addresses of a range. */
const MAX_HELD = 256;
/** What entries of one alternative have in common, beside the query. */
const Alternative = Type.Object(
  {
    types: Type.Optional(Type.Array(Type.Enum(EVENT_TYPES), { minItems: 1, maxItems: 400 })),
    actor: Type.Optional(PlainId),
    onBehalfOf: Type.Optional(PlainId),
    concerns: Type.Optional(PlainId),
    deployment: Type.Optional(PlainId),
    opsOf: Type.Optional(PlainId),
    refused: Type.Optional(Type.Literal(true)),
    byAdministrator: Type.Optional(Type.Literal(true)),
    /** Of any of the objects below. */
    isOfObjects: Type.Optional(Type.Literal(true)),
  },
  closed,
);
export type Alternative = Static<typeof Alternative>;

/** A search whose entries match one alternative at least, where there are any; too long for an address. */
export const ObjectsQuery = Type.Object(
  {
    query: EventsQuery,
    /** Without: entries of any of the objects, as releases before ask. */
    any: Type.Array(Alternative, { minItems: 1, maxItems: 8, default: [{ isOfObjects: true }] }),
    /** One of these values, each as `holds` has one. */
    holdsAny: Type.Optional(
      Type.Array(AuditIndexQuery.properties.holds, { minItems: 1, maxItems: MAX_HELD }),
    ),
    folders: Type.Array(Path, { maxItems: 16 }),
    paths: Type.Array(Path, { maxItems: MAX_PATHS }),
  },
  closed,
);
/** Of such a question. */
export const MAX_OBJECTS_BYTES = 16 * 1024 ** 2;

export const EventParams = AuditEventParams;
export const EventQuery = Type.Object({ ...AuditEventQuery.properties, ...Bound }, closed);

export const StatsQuery = Type.Object(
  { days: Type.Integer({ minimum: 1, maximum: MAX_DAYS, default: 31 }) },
  closed,
);
