/** Pools of nodes, and the calendar: whose nodes are, by which rules, and when they are for somebody alone, or for nobody. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { IdParam } from "@resontech/contracts/http-common";
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
} from "@resontech/contracts/http-pools";
import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { isInFilter } from "../../db/row-filter.ts";
import type { PoolParts } from "../../pools/pool-parts.ts";
import type { SeesProject } from "../../pools/pool-views.ts";
import { authorize, callerOfRequest } from "../authorization.ts";
import { responses } from "../responses.ts";

const tags = ["pools"];
const Params = Type.Object({ id: IdParam }, { additionalProperties: false });
const reads = { access: { action: "pool.read" }, audit: { none: "status" } } as const;
const setsPools = { access: { action: "pool.set" }, audit: { event: "admin.pools" } } as const;
const setsCalendar = {
  access: { action: "calendar.set" },
  audit: { event: "admin.calendar" },
} as const;

export const poolRoutes: FastifyPluginAsyncTypebox<PoolParts> = async (
  app,
  { poolViews, poolChanges, calendarChanges },
) => {
  const poolOf = (id: string) => poolViews.pools("all").find((pool) => pool.id === id)!;
  const entryOf = (id: string) => poolViews.calendar("all").find((entry) => entry.id === id)!;

  app.get(
    "/api/pools",
    {
      schema: {
        summary:
          "Shared pools of nodes, and those of the caller's projects. Administrators and auditors see all",
        ...{ tags, response: responses(200, PoolsReply) },
      },
      config: reads,
    },
    async (request) => ({ pools: poolViews.pools(await seenBy(request)) }),
  );

  app.post(
    "/api/pools",
    {
      schema: {
        summary: "Make a pool of nodes: everybody's, or one project's",
        ...{ tags, body: PoolBody, response: responses(201, PoolReply) },
      },
      config: setsPools,
    },
    async (request, reply) => {
      const id = await poolChanges.make(request.audit, request.body);
      return reply.code(201).send(poolOf(id));
    },
  );

  app.put(
    "/api/pools/:id",
    {
      schema: {
        summary: "Change rules of a pool, or which nodes are in it",
        ...{ tags, params: Params, body: PoolChangeBody, response: responses(200, PoolReply) },
      },
      config: setsPools,
    },
    async (request) =>
      poolOf(await poolChanges.change(request.audit, request.params.id, request.body)),
  );

  app.delete(
    "/api/pools/:id",
    {
      schema: {
        summary: "Remove a pool: its nodes are everybody's from then",
        ...{ tags, params: Params, response: responses(200, EndedReply) },
      },
      config: setsPools,
    },
    async (request) => ({ id: await poolChanges.remove(request.audit, request.params.id) }),
  );

  app.get(
    "/api/calendar",
    {
      schema: {
        summary:
          "Maintenance and reservations that are not over. Of other projects' reservations no name is told",
        ...{ tags, response: responses(200, CalendarReply) },
      },
      config: reads,
    },
    async (request) => ({ entries: poolViews.calendar(await seenBy(request)) }),
  );

  app.post(
    "/api/calendar",
    {
      schema: {
        summary: "Announce maintenance of nodes, or reserve them for a project",
        ...{ tags, body: CalendarBody, response: responses(201, CalendarEntryReply) },
      },
      config: setsCalendar,
    },
    async (request, reply) => {
      const { userId } = callerOfRequest(request);
      const id = await calendarChanges.make(request.audit, request.body, userId);
      return reply.code(201).send(entryOf(id));
    },
  );

  app.put(
    "/api/calendar/:id",
    {
      schema: {
        summary: "Move maintenance or a reservation, or say another reason",
        ...{ tags, params: Params, body: CalendarChangeBody },
        response: responses(200, CalendarEntryReply),
      },
      config: setsCalendar,
    },
    async (request) =>
      entryOf(await calendarChanges.change(request.audit, request.params.id, request.body)),
  );

  app.delete(
    "/api/calendar/:id",
    {
      schema: {
        summary: "Call maintenance or a reservation off, or end it now",
        ...{ tags, params: Params, response: responses(200, EndedReply) },
      },
      config: setsCalendar,
    },
    async (request) => ({ id: await calendarChanges.remove(request.audit, request.params.id) }),
  );
};

async function seenBy(request: FastifyRequest): Promise<SeesProject> {
  const { rows } = await authorize(request, "pool.read", "rows");
  return rows === "all" ? "all" : (projectId) => isInFilter(rows, { projectId });
}
