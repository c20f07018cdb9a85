/** Signing in and out by browser: `/auth/…`, and what a page asks about its own session. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { ERROR_CATALOGUE } from "@resontech/contracts/error-catalogue";
import { CallerReply, SessionReply, SignOutReply } from "@resontech/contracts/http-identity";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { ApiError } from "../../api-error.ts";
import type { SessionCaller } from "../../authorization/caller.ts";
import { mayAskFor } from "../../authorization/decide.ts";
import type { ReadHandle } from "../../db/open-database.ts";
import { HOME_PAGE, returnPath } from "../../identity/decisions/return-path.ts";
import { SECOND_FACTOR } from "../../identity/decisions/people-roles.ts";
import type { AccountLinks } from "../../identity/accounts/account-links.ts";
import { findPerson, findPersonById, membershipsOf } from "../../identity/people-store.ts";
import { projectName } from "../../identity/project-store.ts";
import { type OpenIdProvider, SignInRefused } from "../../identity/sign-in/open-id-provider.ts";
import type { PersonSessions } from "../../identity/sign-in/person-sessions.ts";
import type { KeycloakAccounts } from "../../identity/accounts/keycloak-accounts.ts";
import type { Sessions } from "../../identity/sign-in/sessions.ts";
import type { ServiceAccounts } from "../../identity/service-accounts/service-accounts.ts";
import type { SignIn, SignInStep } from "../../identity/sign-in/sign-in.ts";
import { refusalPage } from "../pages/refusal-page.ts";
import { sendPage } from "../pages/send-page.ts";
import { callerOfRequest } from "../authorization.ts";
import { pageResponses, responses } from "../responses.ts";
import {
  clearPendingCookie,
  clearSessionCookie,
  readPendingCookie,
  readSessionCookie,
  setPendingCookie,
  setSessionCookie,
} from "../session-cookie.ts";

export type SignInParts = {
  provider: OpenIdProvider;
  sessions: Sessions;
  signIn: SignIn;
  links: Pick<AccountLinks, "endSessions">;
  serviceAccounts: ServiceAccounts;
  personSessions: PersonSessions;
  accounts: Pick<KeycloakAccounts, "heldAbout" | "remove">;
};
/** @property identity null where the appliance has no identity provider: nobody signs in */
export type SignInRoutesDeps = {
  read: ReadHandle;
  identity: SignInParts | null;
  now: () => number;
};

const tags = ["sign-in"];
const MAX_QUERY = 4_096;
/** Actions of Keycloak's that a person may ask for. */
const CREDENTIAL_ACTIONS = {
  passkey: "webauthn-register",
  code: "CONFIGURE_TOTP",
  password: "UPDATE_PASSWORD",
} as const;
const Page = Type.Object(
  { return: Type.Optional(Type.String({ maxLength: 512 })) },
  { additionalProperties: false },
);
const Html = pageResponses("text/html");

export const signInRoutes: FastifyPluginAsyncTypebox<SignInRoutesDeps> = async (
  app,
  { read, identity, now },
) => {
  app.get(
    "/auth/sign-in",
    {
      schema: {
        summary: "Sends the browser to Keycloak's page, and back to `return`",
        ...{ tags, querystring: Page, response: Html },
      },
      config: {
        access: { public: "nobody is signed in yet" },
        audit: { none: "Keycloak's page says who it is" },
      },
    },
    async (request, reply) =>
      await toKeycloak(reply, { returnTo: returnPath(request.query.return), stepUp: false }),
  );

  app.get(
    "/auth/step-up",
    {
      schema: {
        summary: "Asks for the second factor now; for what needs a fresh one",
        ...{ tags, querystring: Page, response: Html },
      },
      config: {
        access: { public: "Keycloak asks who it is" },
        audit: { none: "Keycloak's page says who it is" },
      },
    },
    async (request, reply) =>
      await toKeycloak(reply, { returnTo: returnPath(request.query.return), stepUp: true }),
  );

  app.get(
    "/auth/credential/:kind",
    {
      schema: {
        summary:
          "Sends the browser to Keycloak to set up a passkey, a code generator or a password",
        params: Type.Object(
          { kind: Type.Enum(["passkey", "code", "password"]) },
          { additionalProperties: false },
        ),
        ...{ tags, response: Html },
      },
      config: {
        access: { public: "Keycloak asks who it is" },
        audit: { none: "Keycloak records the change of credentials" },
      },
    },
    async (request, reply) => {
      const cookie = readSessionCookie(request);
      const caller = cookie === null ? null : await required().sessions.callerOf(cookie);
      return await toKeycloak(reply, {
        // Who has a second factor shows it before another one is set up.
        ...{ returnTo: HOME_PAGE, stepUp: caller?.signIn.acr === SECOND_FACTOR },
        action: CREDENTIAL_ACTIONS[request.params.kind],
      });
    },
  );

  app.get(
    "/auth/callback",
    {
      schema: { summary: "Where Keycloak sends the browser after a sign-in", tags, response: Html },
      config: {
        access: { public: "the code in the address is the credential" },
        audit: { event: "auth.session.begin", loggedBy: "identity/sign-in/sign-in.ts" },
      },
    },
    async (request, reply) => {
      const query = request.url.split("?", 2)[1] ?? "";
      const state = new URLSearchParams(query.slice(0, MAX_QUERY)).get("state") ?? "";
      try {
        const step = await required().signIn.finish(
          query.slice(0, MAX_QUERY),
          readPendingCookie(request, state),
          readSessionCookie(request),
          { ip: request.peer, agent: request.headers["user-agent"] },
        );
        clearPendingCookie(reply, state);
        return go(reply, step);
      } catch (error) {
        if (!(error instanceof SignInRefused)) throw error;
        clearPendingCookie(reply, state);
        request.log.warn({ reason: error.reason }, "a sign-in was refused");
        await request.audit.refusal({
          type: "auth.session.refused",
          object: { kind: "appliance", id: "appliance" },
          outcome: { code: "sign_in_refused", status: 403 },
          detail: { reason: error.reason },
        });
        return sendPage(reply.code(403), refusalPage(error.reason));
      }
    },
  );

  app.post(
    "/auth/sign-out",
    {
      schema: {
        summary: "Ends the session here; the answer says where Keycloak's is ended",
        ...{ tags, response: responses(200, SignOutReply) },
      },
      config: {
        access: { own: "ends the own session" },
        audit: { event: "auth.session.end", loggedBy: "identity/sign-in/sessions.ts" },
      },
    },
    async (request, reply) => {
      const cookie = readSessionCookie(request);
      const url = cookie === null ? null : await required().sessions.signOut(cookie);
      clearSessionCookie(reply);
      return { location: url?.href ?? "/" };
    },
  );

  app.post(
    "/auth/sign-out-everywhere",
    {
      schema: {
        summary: "Ends every session of the person: browsers, shells, and Keycloak's own",
        ...{ tags, response: responses(200, SignOutReply) },
      },
      config: {
        access: { own: "ends the own sessions" },
        audit: { event: "auth.session.end", loggedBy: "identity/sign-in/sessions.ts" },
      },
    },
    async (request, reply) => {
      const { userId } = own(request)[0];
      const { sessions, links } = required();
      await sessions.endAll({ userId }, "revoked");
      await links.endSessions(userId);
      clearSessionCookie(reply);
      return { location: "/" };
    },
  );

  app.register(async (scope) => {
    scope.addContentTypeParser(
      "application/x-www-form-urlencoded",
      { parseAs: "string" },
      (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(String(body)))),
    );
    scope.post(
      "/auth/back-channel-logout",
      {
        schema: {
          summary: "Keycloak says that sessions have ended",
          ...{ tags, response: responses(200, Type.Null()) },
          body: Type.Object({ logout_token: Type.String({ maxLength: 8_192 }) }),
        },
        config: {
          access: { public: "the signed token is the credential" },
          audit: { event: "auth.session.end", loggedBy: "identity/sign-in/sessions.ts" },
        },
      },
      async (request, reply) => {
        const { provider, sessions } = required();
        const { logout_token: token } = request.body as { logout_token: string };
        try {
          const of = await provider.readLogoutToken(token);
          const person = "sid" in of ? of : whose(of.subject);
          if (person !== null) await sessions.endAll(person, "back_channel");
        } catch (error) {
          if (!(error instanceof SignInRefused)) throw error;
          await request.audit.refusal({
            type: "auth.session.refused",
            object: { kind: "appliance", id: "appliance" },
            outcome: { code: "sign_in_refused", status: ERROR_CATALOGUE.sign_in_refused.status },
            detail: { reason: error.reason },
          });
          throw new ApiError("sign_in_refused", "this is no log-out of Keycloak's");
        }
        return await reply.code(200).send();
      },
    );
  });

  app.get(
    "/api/session",
    {
      schema: {
        summary: "Who the browser is signed in as",
        ...{ tags, response: responses(200, SessionReply) },
      },
      config: { access: { own: "shows the own session" }, audit: { none: "status" } },
    },
    async (request) => {
      const [caller, cookie] = own(request);
      const { sessions } = required();
      const session = sessions.describe(caller, cookie);
      const person = findPersonById(read, caller.userId);
      return {
        user: { id: caller.userId, username: person?.username ?? "" },
        roles: session.roles,
        projects: membershipsOf(read, caller.userId).map(({ projectId, name, role }) => ({
          ...{ id: projectId, name, role },
        })),
        acr: session.acr,
        may: mayAskFor(caller),
        signedInAt: instant(session.signedInAt),
        idleInS: Math.max(0, Math.ceil((session.activeAt + sessions.idleMs - now()) / 1_000)),
        endsAt: instant(session.endsAt),
        csrfToken: sessions.csrfToken(cookie),
      };
    },
  );

  app.get(
    "/api/me",
    {
      schema: {
        summary: "Who asks: the user of the credential, with roles and projects",
        ...{ tags, response: responses(200, CallerReply) },
      },
      config: { access: { own: "shows who the caller is" }, audit: { none: "status" } },
    },
    async (request) => {
      const caller = callerOfRequest(request);
      const projects = membershipsOf(read, caller.userId).map(({ projectId, name, role }) => ({
        ...{ id: projectId, name, role },
      }));
      const user = {
        id: caller.userId,
        username: findPersonById(read, caller.userId)?.username ?? "",
      };
      if (caller.kind === "key")
        return {
          ...{ user, credential: "key" as const, roles: [], acr: null },
          projects: projects.filter(({ id }) => id === caller.projectId),
        };
      if (caller.kind === "service-account") {
        const { projectId: id } = caller;
        const name = projectName(read, id) ?? "";
        return {
          ...{ user: { id: caller.userId, username: caller.clientId }, roles: [], acr: null },
          credential: "service-account" as const,
          projects: [{ id, name, role: "service-account" }],
        };
      }
      const roles = caller.grants.flatMap(({ role, projectId }) =>
        projectId === null ? [role] : [],
      );
      return { user, credential: "session" as const, roles, projects, acr: caller.signIn.acr };
    },
  );

  app.post(
    "/api/session/activity",
    {
      schema: {
        summary: "The person did something: the session is not idle",
        ...{ tags, response: responses(200, Type.Object({}, { additionalProperties: false })) },
      },
      config: { access: { own: "keeps the own session" }, audit: { none: "status" } },
    },
    async (request) => {
      const [, cookie] = own(request);
      await required().sessions.noteActivity(cookie);
      return {};
    },
  );

  function required(): SignInParts {
    if (identity === null)
      throw new ApiError("identity_unavailable", "this appliance has no identity provider");
    return identity;
  }

  async function toKeycloak(
    reply: FastifyReply,
    options: { returnTo: string; stepUp: boolean; action?: string },
  ) {
    return go(reply, await required().signIn.begin(options));
  }

  function whose(subject: string): { userId: string } | null {
    return findPerson(read, subject);
  }
};

function go(reply: FastifyReply, step: SignInStep) {
  if (step.to === "keycloak") setPendingCookie(reply, step.state, step.pending);
  else setSessionCookie(reply, step.cookie);
  return reply.redirect(step.to === "keycloak" ? step.url.href : step.path, 302);
}

function own(request: FastifyRequest): [SessionCaller, string] {
  const cookie = readSessionCookie(request);
  if (request.caller?.kind !== "session" || cookie === null)
    throw new ApiError("session_required", "nobody is signed in");
  return [request.caller, cookie];
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}
