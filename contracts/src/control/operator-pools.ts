/** Whose nodes are, by which rules, and when they are for somebody alone, or for nobody. */
import { Type } from "typebox";
import { closed } from "../closed.ts";
import { IdParam } from "../http/http-common.ts";
import {
  CalendarBody,
  CalendarChangeBody,
  CalendarEntryReply,
  CalendarReply,
  EndedReply,
  PoolBody,
  PoolChangeBody,
  PoolReply,
  PoolsReply,
} from "../http/http-pools.ts";
import { operatorRoute } from "./operator-route.ts";

const OfPool = Type.Object({ id: IdParam }, closed);

/** A pool is named by its id or its name. */
export const POOL_ROUTES = {
  "pool-list": operatorRoute({
    ...{ method: "GET", path: "/api/operator/pools" },
    answer: PoolsReply,
  }),
  "pool-add": operatorRoute({
    ...{ method: "POST", path: "/api/operator/pools" },
    ...{ body: PoolBody, answer: PoolReply },
  }),
  "pool-set": operatorRoute({
    ...{ method: "PUT", path: "/api/operator/pools/:id", params: OfPool },
    ...{ body: PoolChangeBody, answer: PoolReply },
  }),
  "pool-remove": operatorRoute({
    ...{ method: "DELETE", path: "/api/operator/pools/:id", params: OfPool },
    answer: EndedReply,
  }),
  "calendar-list": operatorRoute({
    ...{ method: "GET", path: "/api/operator/calendar" },
    answer: CalendarReply,
  }),
  "calendar-add": operatorRoute({
    ...{ method: "POST", path: "/api/operator/calendar" },
    ...{ body: CalendarBody, answer: CalendarEntryReply },
  }),
  "calendar-set": operatorRoute({
    ...{ method: "PUT", path: "/api/operator/calendar/:id", params: OfPool },
    ...{ body: CalendarChangeBody, answer: CalendarEntryReply },
  }),
  "calendar-remove": operatorRoute({
    ...{ method: "DELETE", path: "/api/operator/calendar/:id", params: OfPool },
    answer: EndedReply,
  }),
} as const;
