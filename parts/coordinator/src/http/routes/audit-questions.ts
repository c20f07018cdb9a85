import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { typesThatAnswer } from "@resontech/contracts/audit-answers";
import { QUESTION_IDS, QUESTION_PARAMETERS, QUESTIONS } from "@resontech/contracts/audit-questions";
import { questionObjection, searchOf } from "@resontech/contracts/audit-searches";
import {
  AuditEventsReply,
  AuditProofsReply,
  AuditQuestionParams,
  AuditQuestionProofsQuery,
  AuditQuestionQuery,
  AuditQuestionsReply,
} from "@resontech/contracts/http-audit";
import type { FastifyRequest } from "fastify";
import { ApiError } from "../../api-error.ts";
import { type AuditView, viewOf } from "../../audit/audit-search.ts";
import { proven } from "../../audit/proven-entries.ts";
import { readPeriod } from "../../audit/decisions/read-period.ts";
import { SearchRefused } from "../../audit/decisions/search-refused.ts";
import { findJobObjects, type JobObjects } from "../../audit/job-objects.ts";
import { decisionOf } from "../../authorization/in-the-log.ts";
import { asWritten, definedOf, looked } from "../audit-look.ts";
import { authorize, authorizedRow } from "../authorization.ts";
import { responses } from "../responses.ts";
import type { AuditRoutesDeps } from "./audit.ts";

const tags = ["audit"];

/** The catalogue of questions, and the entries that answer one: each caller sees those of the log that are the caller's to see. */
export const auditQuestionRoutes: FastifyPluginAsyncTypebox<AuditRoutesDeps> = async (
  app,
  { auditSearch, read },
) => {
  app.get(
    "/api/audit/questions",
    {
      schema: {
        summary: "The questions that the log answers, with what each needs and can't show",
        ...{ tags, response: responses(200, AuditQuestionsReply) },
      },
      config: { access: { action: "audit.search" }, audit: { none: "catalogue" } },
    },
    async (request) => {
      await authorize(request, "audit.search", "rows");
      return {
        questions: QUESTION_IDS.map((id) => {
          const { title, needs, takes, limits } = QUESTIONS[id];
          return {
            id,
            title,
            needs: [...needs],
            takes: [...takes],
            limits,
            types: typesThatAnswer(id),
          };
        }),
        parameters: { ...QUESTION_PARAMETERS },
      };
    },
  );

  app.get(
    "/api/audit/questions/:question",
    {
      schema: {
        summary: "Entries of the audit log that answer a question, newest first, by cursor",
        ...{ tags, params: AuditQuestionParams, querystring: AuditQuestionQuery },
        response: responses(200, AuditEventsReply),
      },
      config: { access: { action: "audit.search" }, audit: { event: "audit.search" } },
    },
    async (request) => {
      const { params, query } = request;
      const verdict = await authorize(request, "audit.search", "rows");
      return await looked(
        () => answer(request, params.question, query, viewOf(verdict.rows)),
        async (page) => {
          const given = Object.keys(definedOf(query)).filter((name) => !ARRANGED.has(name));
          await request.audit.fact({
            ...{ type: "audit.search", object: { kind: "log", id: "appliance" } },
            decision: decisionOf(verdict),
            detail: {
              filters: [...given, `question.${params.question}`].sort(),
              entries: page?.events.length ?? 0,
              more: page?.more ?? false,
            },
          });
        },
      );
    },
  );

  app.get(
    "/api/audit/questions/:question/proofs",
    {
      schema: {
        summary: "Entries as the question finds them, each with its proof: for an export",
        ...{ tags, params: AuditQuestionParams, querystring: AuditQuestionProofsQuery },
        response: responses(200, AuditProofsReply),
      },
      config: { access: { action: "audit.read" }, audit: { event: "audit.read" } },
    },
    async (request) => {
      const { params, query } = request;
      const verdict = await authorize(request, "audit.read", "rows");
      const view = viewOf(verdict.rows);
      return await looked(
        async () =>
          await proven(auditSearch, await answer(request, params.question, query, view), view),
        async (page) =>
          await request.audit.fact({
            ...{ type: "audit.read", object: { kind: "log", id: "appliance" } },
            decision: decisionOf(verdict),
            detail: { entries: page?.events.length ?? 0 },
          }),
      );
    },
  );

  async function answer(
    of: FastifyRequest,
    id: AuditQuestionParams["question"],
    { from, to, cursor, order, limit, ...values }: AuditQuestionQuery,
    view: AuditView,
  ): Promise<AuditEventsReply> {
    const given = definedOf(values);
    const period = asWritten(() => {
      const objection = questionObjection(id, given);
      if (objection !== null) throw new SearchRefused(objection);
      return readPeriod(definedOf({ from, to, cursor }), Date.now());
    });
    const { any, below, holds } = searchOf(id, given);
    const objects = given.job === undefined ? null : await objectsOf(of, given.job);
    const page = await auditSearch.events(
      {
        ...{ any, filters: below === undefined ? {} : { below } },
        ...(holds === undefined ? {} : { holdsAny: [holds] }),
      },
      { ...period, order, limit },
      view,
      objects,
    );
    return {
      ...page,
      cursor: period.seal(page.cursor),
      ...(given.job === undefined ? {} : { areObjectsKnown: objects !== null }),
      ...(objects === null ? {} : { sameFolder: objects.sameFolder }),
    };
  }

  /** Finds what else belongs to a job. Null for one that is not known, or not the caller's: entries of the job itself are found all the same. */
  async function objectsOf(request: FastifyRequest, job: string): Promise<JobObjects | null> {
    try {
      return await authorizedRow(request, "audit.search", findJobObjects(read, job));
    } catch (error) {
      if (error instanceof ApiError && error.code === "not_found") return null;
      throw error;
    }
  }
};

/** How an answer is arranged, not what it is about. */
const ARRANGED: ReadonlySet<string> = new Set(["order", "limit", "cursor"]);
