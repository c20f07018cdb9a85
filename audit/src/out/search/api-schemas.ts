/** What may be asked on the search socket: what the API lets people ask, and the bound that the asker sets. Whatever else stands in a query is refused. */
import { PlainId } from "@resontech/contracts/audit-event";
import {
  AuditEventParams,
  AuditEventQuery,
  AuditEventsQuery,
} from "@resontech/contracts/http-audit";
import { type Static, Type } from "typebox";

const closed = { additionalProperties: false } as const;
const MAX_DAYS = 400;

/** Only what this subject did, or what was done for it: set it for everybody who may see no more. */
const Bound = { sub: Type.Optional(PlainId) };

/** Which objects are a job's is the coordinator's to say. */
const { objectsOf: _objectsOf, ...filters } = AuditEventsQuery.properties;
export const EventsQuery = Type.Object({ ...filters, ...Bound }, closed);
export type EventsQuery = Static<typeof EventsQuery>;

/** Paths of one question: those of a job's inputs, each with and without its version. */
const MAX_PATHS = 8_192;
const Path = Type.String({ minLength: 2, maxLength: 2_048 });
/** A search of entries of any of these objects; too long for an address. */
export const ObjectsQuery = Type.Object(
  {
    query: EventsQuery,
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
