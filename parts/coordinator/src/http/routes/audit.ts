import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import {
  AuditEventParams,
  AuditEventQuery,
  AuditEventReply,
  AuditEventsQuery,
  AuditEventsReply,
  AuditProofsQuery,
  AuditProofsReply,
} from "@resontech/contracts/http-audit";
import type { FastifyRequest } from "fastify";
import { type AuditSearch, type AuditView, viewOf } from "../../audit/audit-search.ts";
import { readFilters } from "../../audit/decisions/read-filters.ts";
import { readPeriod } from "../../audit/decisions/read-period.ts";
import { findJobObjects } from "../../audit/job-objects.ts";
import { proven } from "../../audit/proven-entries.ts";
import { decisionOf } from "../../authorization/in-the-log.ts";
import type { ReadHandle } from "../../db/open-database.ts";
import { asWritten, definedOf, looked } from "../audit-look.ts";
import { authorize, authorizedRow } from "../authorization.ts";
import { responses } from "../responses.ts";

export type AuditRoutesDeps = { auditSearch: AuditSearch; read: ReadHandle };

const tags = ["audit"];
const log = { kind: "log", id: "appliance" } as const;
/** How an answer is arranged, not what it is about. */
const NO_FILTERS: ReadonlySet<string> = new Set(["order", "limit", "cursor"]);

/** Each look is itself logged before it is answered, whatever the answer: which filters were set, not their values, and how much was shown. */
export const auditRoutes: FastifyPluginAsyncTypebox<AuditRoutesDeps> = async (
  app,
  { auditSearch, read },
) => {
  app.get(
    "/api/audit/events",
    {
      schema: {
        summary: "Entries of the audit log that the caller may see, newest first, by cursor",
        tags,
        querystring: AuditEventsQuery,
        response: responses(200, AuditEventsReply),
      },
      config: { access: { action: "audit.search" }, audit: { event: "audit.search" } },
    },
    async (request) => {
      const { query } = request;
      const verdict = await authorize(request, "audit.search", "rows");
      return await looked(
        () => find(request, query, viewOf(verdict.rows)),
        async (page) => {
          const filters = Object.keys(query).filter((name) => !NO_FILTERS.has(name));
          const detail = {
            filters: filters.sort(),
            entries: page?.events.length ?? 0,
            more: page?.more ?? false,
          };
          const decision = decisionOf(verdict);
          await request.audit.fact({ type: "audit.search", object: log, decision, detail });
        },
      );
    },
  );

  app.get(
    "/api/audit/proofs",
    {
      schema: {
        summary: "Entries as `/api/audit/events` finds them, each with its proof: for an export",
        ...{ tags, querystring: AuditProofsQuery, response: responses(200, AuditProofsReply) },
      },
      config: { access: { action: "audit.read" }, audit: { event: "audit.read" } },
    },
    async (request) => {
      const verdict = await authorize(request, "audit.read", "rows");
      const view = viewOf(verdict.rows);
      return await looked(
        async () => await proven(auditSearch, await find(request, request.query, view), view),
        async (page) =>
          await request.audit.fact({
            ...{ type: "audit.read", object: log, decision: decisionOf(verdict) },
            detail: { entries: page?.events.length ?? 0 },
          }),
      );
    },
  );

  app.get(
    "/api/audit/events/:index",
    {
      schema: {
        summary: "One entry of the audit log with its proof for the offline verifier",
        tags,
        params: AuditEventParams,
        querystring: AuditEventQuery,
        response: responses(200, AuditEventReply),
      },
      config: { access: { action: "audit.read" }, audit: { event: "audit.read" } },
    },
    async (request) => {
      const { index } = request.params;
      const verdict = await authorize(request, "audit.read", "rows");
      const decision = decisionOf(verdict);
      return await looked(
        () => auditSearch.event(index, request.query.shard, viewOf(verdict.rows)),
        async (entry) => {
          await request.audit.fact({
            type: "audit.read",
            object: log,
            decision,
            detail: { entries: entry === null ? 0 : 1 },
          });
        },
      );
    },
  );

  async function find(
    request: FastifyRequest,
    { from, to, cursor, order, limit, ...written }: AuditEventsQuery,
    view: AuditView,
  ): Promise<AuditEventsReply> {
    const search = asWritten(() => readFilters(written));
    const period = asWritten(() => readPeriod(definedOf({ from, to, cursor }), Date.now()));
    const { objectsOf } = written;
    const objects =
      objectsOf === undefined
        ? null
        : await authorizedRow(request, "audit.search", findJobObjects(read, objectsOf));
    const page = await auditSearch.events(search, { ...period, order, limit }, view, objects);
    return {
      ...page,
      cursor: period.seal(page.cursor),
      ...(objects === null ? {} : { sameFolder: objects.sameFolder }),
    };
  }
};
