/**
 * The operator's API, on the socket of the host's root: routes of its own, and those of people's API that do the same. Nothing here has a page, a session or
 * a key, and nobody's requests are counted.
 */
import { type FastifyBaseLogger, type FastifyInstance, LogController } from "fastify";
import { makeApi, type SchemasCompiled } from "./http/make-api.ts";
import { authorization, authorize } from "./http/authorization.ts";
import { type AuditDeps, requestAudit } from "./http/request-audit.ts";
import { nodeRoutes, type NodeRoutesDeps } from "./http/routes/nodes.ts";
import { projectCreationRoute, type ProjectCreationDeps } from "./http/routes/project-creation.ts";
import { operatorAuthentication } from "./control/operator-authentication.ts";
import { operatorApplianceRoutes, type OperatorApplianceDeps } from "./control/routes/appliance.ts";
import { operatorGroupRoutes } from "./control/routes/groups.ts";
import { operatorImageRoutes, type OperatorImageDeps } from "./control/routes/images.ts";
import { operatorJobRoutes, type OperatorJobDeps } from "./control/routes/jobs.ts";
import { operatorKeyRoutes, type OperatorKeyDeps } from "./control/routes/keys.ts";
import { operatorNodeRoutes, type OperatorNodeDeps } from "./control/routes/nodes.ts";
import { operatorPeopleRoutes, type OperatorPeopleDeps } from "./control/routes/people.ts";
import { operatorProjectRoutes, type OperatorProjectDeps } from "./control/routes/projects.ts";
import type { PoolParts } from "./pools/pool-parts.ts";
import { operatorPoolRoutes } from "./control/routes/pools.ts";
import { operatorSchedulerRoutes, type OperatorSchedulerDeps } from "./control/routes/scheduler.ts";
import { operatorShareRoutes, type OperatorShareDeps } from "./control/routes/shares.ts";
import { operatorUserRoutes, type OperatorUserDeps } from "./control/routes/users.ts";

export type ControlAppDeps = AuditDeps &
  OperatorApplianceDeps &
  OperatorImageDeps &
  OperatorJobDeps &
  OperatorKeyDeps &
  OperatorNodeDeps &
  OperatorPeopleDeps &
  OperatorProjectDeps &
  OperatorUserDeps &
  OperatorShareDeps &
  OperatorSchedulerDeps &
  PoolParts &
  NodeRoutesDeps &
  ProjectCreationDeps & { logger: FastifyBaseLogger; schemasCompiled?: SchemasCompiled };

/** Of an order for all nodes by name, or an image's program. */
const MAX_BODY_BYTES = 512 * 1024;
/** Of one field in a path, before it is decoded. */
const MAX_FIELD = 640;

/** The caller listens, and closes. */
export async function buildControlApp(deps: ControlAppDeps): Promise<FastifyInstance> {
  const app = await makeApi(
    deps.logger,
    {
      bodyLimit: MAX_BODY_BYTES,
      routerOptions: { maxParamLength: MAX_FIELD },
      // Names of people stand in paths.
      logController: new LogController({ disableRequestLogging: true }),
      forceCloseConnections: true,
    },
    deps.schemasCompiled,
  );
  // Every request comes from this host.
  await app.register(requestAudit, { ...deps, sourceOf: () => null });
  await app.register(operatorAuthentication);
  await app.register(authorization);
  await app.register(nodeRoutes, deps);
  await app.register(projectCreationRoute, deps);
  await app.register(async (own) => {
    // The operator may ask about any row, so that no handler has one to ask about.
    own.addHook("onRequest", async (request) => {
      const { access } = request.routeOptions.config;
      if (access === undefined || !("action" in access))
        throw new Error("a route of the operator has no action");
      await authorize(request, access.action, "every");
    });
    await own.register(operatorApplianceRoutes, deps);
    await own.register(operatorUserRoutes, deps);
    await own.register(operatorPeopleRoutes, deps);
    await own.register(operatorKeyRoutes, deps);
    await own.register(operatorProjectRoutes, deps);
    await own.register(operatorShareRoutes, deps);
    await own.register(operatorPoolRoutes, deps);
    await own.register(operatorGroupRoutes, deps);
    await own.register(operatorJobRoutes, deps);
    await own.register(operatorSchedulerRoutes, deps);
    await own.register(operatorNodeRoutes, deps);
    await own.register(operatorImageRoutes, deps);
  });
  await app.ready();
  return app;
}
