/** Who asks: a platform key or an access token in `Authorization: Bearer`, or a person by the cookie of a session. Refusals are counted, logged and slowed down by source. What a caller may do is `authorization.ts`. */
import { randomUUID, timingSafeEqual } from "node:crypto";
import { committer } from "@resontech/audit/producer";
import type { FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { ERROR_CATALOGUE } from "@resontech/contracts/error-catalogue";
import { ApiError } from "../api-error.ts";
import type { AuditGate } from "../audit-ports.ts";
import { actorOf } from "../authorization/in-the-log.ts";
import {
  type Caller,
  type KeyCaller,
  type ServiceAccountCaller,
  type SessionCaller,
  type UserCaller,
} from "../authorization/caller.ts";
import type { GroupCommit } from "../db/group-commit.ts";
import type { ReadHandle } from "../db/open-database.ts";
import { hashPlatformKey, isPlatformKey } from "../identity/decisions/platform-key.ts";
import { findCaller, noteUse } from "../identity/key-store.ts";
import { SignInRefused } from "../identity/sign-in/open-id-provider.ts";
import type { AccessTokens, TokenBearer } from "../identity/sign-in/access-tokens.ts";
import type { Sessions } from "../identity/sign-in/sessions.ts";
import { noteAccountUse } from "../identity/service-accounts/service-account-store.ts";
import { inProject } from "./in-project.ts";
import { SeenTokens } from "./seen-tokens.ts";
import { readSessionCookie } from "./session-cookie.ts";

export type AuthenticationOptions = {
  read: ReadHandle;
  commit: GroupCommit;
  gate: AuditGate;
  now: () => number;
  /** Null where the appliance has no identity provider: no cookie counts. */
  sessions: Sessions | null;
  /** Null likewise: no access token counts. */
  tokens: AccessTokens | null;
  /** Refusals of one source in a minute before it is told 429. */
  maxFailuresPerMinute: number;
};

declare module "fastify" {
  interface FastifyRequest {
    /** Null on public routes, and until a handler has found out whose another credential is. */
    caller: Caller | null;
    /**
     * Refuses a credential: counted by source, and logged once a minute.
     * @throws ApiError always; `rate_limited` instead of the code after too many of one source
     */
    refuseCredential(code: CredentialRefusal, message: string): Promise<never>;
    /** Who the credential of this request stands for now; null once it stands for nobody. For connections that outlive their first request. */
    callerNow(): Promise<UserCaller | null>;
  }
}

/** Of public routes too, whose credential is in the body or in Basic authorization. */
type CredentialRefusal =
  | Refusal
  | "join_token_invalid"
  | "registry_login_invalid"
  | "metrics_token_invalid";
type Refusal =
  | "session_required"
  | "malformed_bearer"
  | "invalid_api_key"
  | "user_disabled"
  | "user_left"
  | "sign_in_needed"
  | "csrf_refused"
  | "invalid_token"
  | "service_account_over";

/** A key's last use is kept to the minute. */
const LAST_USE_STEP_MS = 60_000;

export const authentication = fp<AuthenticationOptions>(
  async (app, options) => {
    const lastUses = new Map<string, number>();
    const seenTokens = new SeenTokens();

    app.decorateRequest("caller", null);
    app.decorateRequest("refuseCredential", async function (code, message) {
      const count = await this.audit.refusal({
        type: "auth.failure",
        object: { kind: "appliance", id: "appliance" },
        outcome: { code, status: ERROR_CATALOGUE[code].status },
        detail: { reason: code },
      });
      if (count > options.maxFailuresPerMinute)
        throw new ApiError("rate_limited", "too many refused requests from this address");
      throw new ApiError(code, message);
    });
    app.addHook("onRequest", async (request) => {
      const access = request.routeOptions.config.access;
      if (access === undefined || "public" in access || "credential" in access) return;
      const found = await callerOfRequest(request);
      if (typeof found === "string") return request.refuseCredential(found, REFUSALS[found]);
      request.caller = found;
      request.caller = inChosenProject(request, options.read, found);
      if (found.kind === "key") noteLastUse(found);
    });
    app.decorateRequest("callerNow", async function () {
      const found = await callerOfRequest(this);
      return typeof found === "string" ? null : inChosenProject(this, options.read, found);
    });

    async function callerOfRequest(request: FastifyRequest): Promise<UserCaller | Refusal> {
      const { authorization } = request.headers;
      if (authorization === undefined && options.sessions !== null)
        return await callerOfCookie(options.sessions, request);
      const bearer = await bearerOf(options, authorization);
      if (bearer === null) return callerOf(options, authorization);
      if (typeof bearer === "string") return bearer;
      if ("tokenId" in bearer && !seenTokens.has(bearer.tokenId)) {
        await noteTokenUse(options, bearer.caller, request.peer);
        seenTokens.add(bearer.tokenId, options.now());
      }
      return bearer.caller;
    }

    function noteLastUse({ keyId }: KeyCaller): void {
      const now = options.now();
      if (now - (lastUses.get(keyId) ?? Number.NEGATIVE_INFINITY) < LAST_USE_STEP_MS) return;
      lastUses.set(keyId, now);
      options.commit
        .run((db) => noteUse(db, keyId, now))
        .catch((err: unknown) => app.log.warn({ err }, "last use was not kept"));
    }
  },
  { name: "authentication", dependencies: ["error-replies", "peer-address", "request-audit"] },
);

const REFUSALS: Record<Refusal, string> = {
  session_required: "the request has no credential",
  malformed_bearer: "the Authorization header is not `Bearer` with a platform key",
  invalid_api_key: "the platform key is unknown, revoked or expired",
  user_disabled: "the operator disabled the user of this key",
  user_left: "the directory no longer has the user of this key",
  sign_in_needed: "the user of this key has not signed in for seven days",
  invalid_token: "the access token is not good here, or no longer",
  service_account_over: "the service account was revoked or has expired",
  csrf_refused: "the request did not come from a page of this appliance",
};

/** A person with several projects names the one that the request is about. @throws ApiError not_found where it is none of them */
function inChosenProject<C extends UserCaller>(
  request: FastifyRequest,
  read: ReadHandle,
  caller: C,
): C {
  const chosen = request.headers["x-rt-project"];
  return chosen === undefined ? caller : inProject(request, read, caller, String(chosen));
}

const SAFE_METHODS = new Set(["GET", "HEAD"]);

/** A browser sends the cookie whoever made the page: what changes anything needs a word that only our own page can know. */
async function callerOfCookie(
  sessions: Sessions,
  request: FastifyRequest,
): Promise<SessionCaller | Refusal> {
  const cookie = readSessionCookie(request);
  if (cookie === null) return "session_required";
  const caller = await sessions.callerOf(cookie);
  if (caller === null) return "session_required";
  if (SAFE_METHODS.has(request.method)) return caller;
  const { "x-rt-csrf": token, "sec-fetch-site": site } = request.headers;
  const isOwnPage =
    site === "same-origin" &&
    typeof token === "string" &&
    equals(token, sessions.csrfToken(cookie));
  return isOwnPage ? caller : "csrf_refused";
}

/** Finds whose access token it is; null for what is none. A token's own faults are not told apart: whoever made it up learns nothing. */
async function bearerOf(
  { tokens }: AuthenticationOptions,
  header: string | undefined,
): Promise<TokenBearer | Refusal | null> {
  const token = /^Bearer (ey[A-Za-z0-9_-]{1,4096}(?:\.[A-Za-z0-9_-]{1,8192}){2})$/i.exec(
    header ?? "",
  )?.[1];
  if (token === undefined || tokens === null) return null;
  try {
    const bearer = await tokens.bearerOf(token);
    return bearer === "over" ? "service_account_over" : (bearer ?? "invalid_token");
  } catch (error) {
    if (!(error instanceof SignInRefused)) throw error;
    return "invalid_token";
  }
}

/** Records that a token is used, durably before the first answer to it; the next ones follow within its five minutes. */
async function noteTokenUse(
  { gate, commit, now }: AuthenticationOptions,
  caller: ServiceAccountCaller,
  source: string,
): Promise<void> {
  const to = committer();
  await gate.fact(
    {
      ...{ type: "auth.service-account.use", op: randomUUID(), actor: actorOf(caller, to) },
      src: { addr: to("src.addr", source) },
      object: { kind: "user", id: caller.userId },
      detail: { project: caller.projectId },
    },
    to.disclosures,
  );
  await commit.run((db) => noteAccountUse(db, caller.userId, now()));
}

function equals(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function callerOf(
  { read, now }: AuthenticationOptions,
  header: string | undefined,
): KeyCaller | Refusal {
  if (header === undefined) return "session_required";
  const key = /^Bearer ([^\s]{1,256})$/i.exec(header)?.[1];
  if (key === undefined || !key.startsWith("rsk_")) return "malformed_bearer";
  if (!isPlatformKey(key)) return "invalid_api_key";
  const found = findCaller(read, hashPlatformKey(key), now());
  return typeof found === "string" ? KEY_REFUSALS[found] : (found ?? "invalid_api_key");
}

const KEY_REFUSALS = {
  disabled: "user_disabled",
  left: "user_left",
  unseen: "sign_in_needed",
} as const;
