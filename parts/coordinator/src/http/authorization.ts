/**
 * Holds every route to `authorization/decide.ts`: at the door, before anything is read, by what the caller may ask at all; in the handler by
 * the row that is meant. An answer about rows whose handler did not ask is withheld.
 */
import type { FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { ERROR_CATALOGUE, type ErrorCode } from "@resontech/contracts/error-catalogue";
import { ApiError } from "../api-error.ts";
import type { Given } from "../authorization/cedar-principal.ts";
import { isUserCaller, type UserCaller } from "../authorization/caller.ts";
import { type Allowed, type Asked, decide, type Refused } from "../authorization/decide.ts";
import { decisionOf, projectDetail } from "../authorization/in-the-log.ts";
import { type Action, ACTIONS, type ResourceOf } from "../authorization/actions.ts";
import { policiesInForce } from "../authorization/policies-in-force.ts";
import type { ResourceKind } from "../authorization/resources.ts";
import { type RouteAccess, routeNameOf } from "./route-config.ts";

const APPLIANCE = { kind: "appliance", id: "appliance" } as const;

declare module "fastify" {
  interface FastifyRequest {
    /** Actions that were allowed to the caller beyond the door. */
    allowedActions: Set<Action>;
  }
}

/** The handler of a route answered without asking whether its caller may; a bug, so the answer is withheld. */
export class UndecidedAnswer extends Error {
  override readonly name = "UndecidedAnswer";
}

export const authorization = fp(
  async (app) => {
    app.decorateRequest("allowedActions");
    app.addHook("onRequest", async (request) => {
      request.allowedActions = new Set();
      const access = request.routeOptions.config.access;
      if (access === undefined || !("action" in access) || "credential" in access) return;
      if (request.caller === null) throw new Error(`${access.action} is asked for nobody`);
      const verdict = decide(request.caller, access.action, "rows");
      if (verdict.effect === "deny") await refuse(request, verdict);
    });
    app.addHook("preSerialization", async (request, reply, payload) => {
      const access = request.routeOptions.config.access;
      if (reply.statusCode >= 400 || access === undefined || !mustDecide(access)) return payload;
      if (!request.allowedActions.has(access.action))
        throw new UndecidedAnswer(routeNameOf(request.routeOptions));
      return payload;
    });
  },
  { name: "authorization", dependencies: ["authentication", "request-audit"] },
);

/** The user of a route that people and their programs ask. */
export function callerOfRequest(request: FastifyRequest): UserCaller {
  if (request.caller === null || !isUserCaller(request.caller))
    throw new Error("a route asked for a user and has none");
  return request.caller;
}

/**
 * Goes on only where the caller may do it. A refusal by policy is logged first. A row of others is answered as one that is not there, in the same time, and
 * logged behind the answer.
 * @throws ApiError with the refusal's code
 */
export async function authorize<A extends Action>(
  request: FastifyRequest,
  action: A,
  asked: Asked<A>,
  given: Given = {},
): Promise<Allowed> {
  if (request.caller === null) throw new Error(`${action} is asked for nobody`);
  const verdict = decide(request.caller, action, asked, given);
  if (verdict.effect === "deny") {
    const isHidden = verdict.policies.length === 0 && asked !== null;
    if (isHidden) noteHiddenRow(request, verdict.code, ACTIONS[action]);
    return await refuse(request, verdict);
  }
  request.allowedActions.add(action);
  return verdict;
}

/** The row, where it is there and the caller may do it. @throws ApiError, the same for a row that is not there and one out of reach */
export async function authorizedRow<A extends Action, R extends ResourceOf<A>>(
  request: FastifyRequest,
  action: A,
  row: R | null,
): Promise<R> {
  await authorize(request, action, row);
  if (row === null) throw new Error(`${action} was allowed on a row that is not there`);
  return row;
}

/** Puts on record that the caller asked for a row that is there, and was told that it is not. Of the row the kind alone is said. */
export function noteHiddenRow(request: FastifyRequest, code: ErrorCode, kind: ResourceKind): void {
  request.audit.noteRefusal({
    type: "auth.refused",
    object: APPLIANCE,
    decision: {
      ...{ effect: "deny", policy_ids: ["no-grant"] },
      policy_set_sha256: policiesInForce().sha256,
    },
    outcome: { code, status: ERROR_CATALOGUE[code].status },
    detail: { reason: code, ...projectDetail(request.caller), kind },
  });
}

async function refuse(request: FastifyRequest, refused: Refused): Promise<never> {
  const { code, status, message, policies } = refused;
  if (policies.length > 0)
    await request.audit.refusal({
      type: "auth.refused",
      object: APPLIANCE,
      decision: decisionOf(refused),
      outcome: { code, status },
      detail: { reason: code, ...projectDetail(request.caller) },
    });
  throw new ApiError(code, message);
}

/** Routes about rows, and those that make out their caller themselves; what concerns the whole appliance is decided at the door. */
function mustDecide(access: RouteAccess): access is Extract<RouteAccess, { action: Action }> {
  if ("public" in access || "own" in access) return false;
  if ("credential" in access) return access.decidedBy === undefined;
  return ACTIONS[access.action] !== "appliance";
}
