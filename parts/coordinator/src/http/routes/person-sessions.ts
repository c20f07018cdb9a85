/** Where somebody is signed in, and how that ends: one's own sessions, of others by administrators. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { IdParam } from "@resontech/contracts/http-common";
import { SessionsReply } from "@resontech/contracts/http-identity";
import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { ApiError } from "../../api-error.ts";
import type { ReadHandle } from "../../db/open-database.ts";
import { findPersonById } from "../../identity/people-store.ts";
import { authorize, callerOfRequest } from "../authorization.ts";
import { instant } from "../decisions/job-replies.ts";
import { responses } from "../responses.ts";
import type { SignInParts } from "./sign-in.ts";

/** @property identity null where the appliance has no identity provider: nobody is signed in */
export type PersonSessionRoutesDeps = {
  read: ReadHandle;
  identity: Pick<SignInParts, "personSessions"> | null;
};

const tags = ["sign-in"];
const closed = { additionalProperties: false } as const;
const Params = Type.Object({ id: IdParam }, closed);
const SessionParams = Type.Object({ id: IdParam, session: IdParam }, closed);

export const personSessionRoutes: FastifyPluginAsyncTypebox<PersonSessionRoutesDeps> = async (
  app,
  { read, identity },
) => {
  app.get(
    "/api/people/:id/sessions",
    {
      schema: {
        summary: "Where a person is signed in: browsers and shells",
        ...{ tags, params: Params, response: responses(200, SessionsReply) },
      },
      config: { access: { action: "session.list" }, audit: { event: "auth.session.list" } },
    },
    async (request) => {
      const { id } = request.params;
      await authorize(request, "session.list", personOf(id));
      const { sessions, isComplete } = await required().list(id);
      await request.audit.fact({
        type: "auth.session.list",
        object: { kind: "user", id },
        detail: { count: sessions.length },
      });
      return {
        complete: isComplete,
        sessions: sessions.map(({ rowIds, startedAt, lastSeenAt, ...session }) => ({
          ...session,
          ...{ startedAt: instant(startedAt), lastSeenAt: instant(lastSeenAt) },
          current: isOf(request, [session.id, ...rowIds]),
        })),
      };
    },
  );

  app.delete(
    "/api/people/:id/sessions/:session",
    {
      schema: {
        summary: "End one session of a person, here and at Keycloak",
        ...{ tags, params: SessionParams, response: responses(200, Type.Object({}, closed)) },
      },
      config: {
        access: { action: "session.end" },
        audit: { event: "auth.session.end", loggedBy: "identity/sign-in/sessions.ts" },
      },
    },
    async (request) => {
      const { id, session } = request.params;
      await authorize(request, "session.end", personOf(id));
      if (!(await required().end(id, session, callerOfRequest(request))))
        throw new ApiError("not_found", "there is no such session");
      return {};
    },
  );

  function personOf(id: string): { userId: string } | null {
    return findPersonById(read, id) === null ? null : { userId: id };
  }

  function required() {
    if (identity === null)
      throw new ApiError("identity_unavailable", "this appliance has no identity provider");
    return identity.personSessions;
  }
};

/** The session of the request itself. */
function isOf({ caller }: FastifyRequest, ids: readonly string[]): boolean {
  return caller?.kind === "session" && ids.includes(caller.sessionId);
}
