/**
 * What every route states beside its schema: what its caller must be allowed to do, and which audit event it leaves. A route that states
 * either not at all stops the start.
 */
import type { EventType } from "@resontech/contracts/audit-catalogue";
import type { FastifySchema } from "fastify";
import fp from "fastify-plugin";
import { type TSchema, Type } from "typebox";
import type { Action } from "../authorization/actions.ts";

export type RouteAccess =
  /** Of a user's credential in the Authorization header. */
  | { action: Action }
  /** Of whoever the handler makes out by another credential; it asks itself, or the function that it calls. */
  | { action: Action; credential: string; decidedBy?: string }
  /** Of the person who signed in, about the own session alone: `own` says what. */
  | { own: string }
  | { public: "reason why anybody may call it" | (string & {}) };

export type RouteAudit =
  /** The handler logs it; an answer below 400 without it is withheld. */
  | { event: EventType }
  /** Logged by the function that the handler calls. */
  | { event: EventType; loggedBy: string }
  /** Why nothing is logged. */
  | { none: string };

/**
 * @property body what a route that changes something takes; null of one that reads
 * @property answer what it answers where it succeeds, as it was declared
 */
export type DeclaredRoute = {
  name: string;
  access: RouteAccess;
  audit: RouteAudit;
  params: TSchema | null;
  query: TSchema | null;
  body: TSchema | null;
  answer: TSchema | null;
};

declare module "fastify" {
  interface FastifyContextConfig {
    access?: RouteAccess;
    audit?: RouteAudit;
  }
  interface FastifyInstance {
    /** Every route as it was declared. */
    declaredRoutes: readonly DeclaredRoute[];
  }
}

/** A route forgot to say who may call it or what it leaves in the audit log. */
export class UndeclaredRoute extends Error {
  override readonly name = "UndeclaredRoute";
  readonly code = "undeclared_route";
  readonly route: string;

  constructor(route: string, missing: string) {
    super(`${route} declares no ${missing}`);
    this.route = route;
  }
}

export const routeDeclarations = fp(
  async (app) => {
    const routes: DeclaredRoute[] = [];
    app.decorate("declaredRoutes", routes);
    app.addHook("onRoute", (route) => {
      const name = routeNameOf(route);
      const { access, audit } = route.config ?? {};
      if (access === undefined) throw new UndeclaredRoute(name, "access");
      if (audit === undefined) throw new UndeclaredRoute(name, "audit event");
      if (route.schema?.response === undefined) throw new UndeclaredRoute(name, "response schema");
      if (changes(route.method)) route.schema.body ??= NO_BODY;
      routes.push({ name, access, audit, ...declaredIn(route.schema) });
    });
  },
  { name: "route-declarations" },
);

/** Of a route that takes nothing: a field that nobody reads is refused as it is everywhere else. */
export const NO_BODY = Type.Union([Type.Null(), Type.Object({}, { additionalProperties: false })]);
const CHANGING: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "DELETE"]);

/** Plugins other than TypeBox's would have other schemas; routes of ours have none. */
function declaredIn({
  params = null,
  querystring: query = null,
  body = null,
  response,
}: FastifySchema): Pick<DeclaredRoute, "params" | "query" | "body" | "answer"> {
  const answers = response as Readonly<Partial<Record<200 | 201, TSchema>>>;
  const answer = answers[200] ?? answers[201] ?? null;
  return { params, query, body, answer } as ReturnType<typeof declaredIn>;
}

function changes(method: string | string[]): boolean {
  return [method].flat().some((one) => CHANGING.has(one));
}

/** `POST /api/tasks/:id/cancel` */
export function routeNameOf({
  method,
  url,
}: {
  method: unknown;
  url?: string | undefined;
}): string {
  return `${String(method)} ${url ?? "/"}`;
}
