/**
 * What every route states beside its schema: who may call it, and which audit event it leaves. A route that states either
 * not at all stops the start.
 */
import type { EventType } from "@resontech/contracts/audit-catalogue";
import type { KeyScope } from "@resontech/contracts/http-identity";
import fp from "fastify-plugin";

export type RouteAccess = { scope: KeyScope; role?: "admin" } | { public: "reason why anybody may call it" | (string & {}) };

export type RouteAudit =
  /** The handler logs it; an answer below 400 without it is withheld. */
  | { event: EventType }
  /** Logged by the function that the handler calls. */
  | { event: EventType; loggedBy: string }
  /** Why nothing is logged. */
  | { none: string };

declare module "fastify" {
  interface FastifyContextConfig {
    access?: RouteAccess;
    audit?: RouteAudit;
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
    app.addHook("onRoute", (route) => {
      const name = `${String(route.method)} ${route.url}`;
      if (route.config?.access === undefined) throw new UndeclaredRoute(name, "access");
      if (route.config.audit === undefined) throw new UndeclaredRoute(name, "audit event");
      if (route.schema?.response === undefined) throw new UndeclaredRoute(name, "response schema");
    });
  },
  { name: "route-declarations" },
);
