/** What may be asked on the search socket: what the API lets people ask, and the bound that the asker sets. Whatever else stands in a query is refused. */
import { PlainId } from "@resontech/contracts/audit-event";
import { AuditEventParams, AuditEventQuery, AuditEventsQuery } from "@resontech/contracts/http-audit";
import { type Static, Type } from "typebox";

const closed = { additionalProperties: false } as const;
const MAX_DAYS = 400;

/** Only what this subject did, or what was done for it: set it for everybody who may see no more. */
const Bound = { sub: Type.Optional(PlainId) };

export const EventsQuery = Type.Object({ ...AuditEventsQuery.properties, ...Bound }, closed);
export type EventsQuery = Static<typeof EventsQuery>;

export const EventParams = AuditEventParams;
export const EventQuery = Type.Object({ ...AuditEventQuery.properties, ...Bound }, closed);

export const StatsQuery = Type.Object({ days: Type.Integer({ minimum: 1, maximum: MAX_DAYS, default: 31 }) }, closed);
