/** Builds the API for people and their programs from typed parts; `server.ts` makes the parts and listens. Root's own is `control-app.ts`. */
import rateLimit from "@fastify/rate-limit";
import swagger from "@fastify/swagger";
import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import { ApiError } from "./api-error.ts";
import { credentialOf } from "./authorization/caller.ts";
import { makeApi, type SchemasCompiled } from "./http/make-api.ts";
import { authentication, type AuthenticationOptions } from "./http/authentication.ts";
import { authorization } from "./http/authorization.ts";
import { leaveSocket } from "./http/leave-socket.ts";
import { peerAddress } from "./http/peer-address.ts";
import { type AuditDeps, requestAudit } from "./http/request-audit.ts";
import type { RouteAudit } from "./http/route-config.ts";
import { accessReviewRoutes, type AccessReviewRoutesDeps } from "./http/routes/access-review.ts";
import { adviceRoutes, type AdviceRoutesDeps } from "./http/routes/advice.ts";
import { applianceRoutes, type ApplianceRoutesDeps } from "./http/routes/appliance.ts";
import { approvalRoutes, type ApprovalRoutesDeps } from "./http/routes/approvals.ts";
import { auditQuestionRoutes } from "./http/routes/audit-questions.ts";
import { auditRoutes, type AuditRoutesDeps } from "./http/routes/audit.ts";
import { bucketRoutes, type BucketRoutesDeps } from "./http/routes/bucket.ts";
import { dashboardRoutes, type DashboardRoutesDeps } from "./http/routes/dashboard.ts";
import { withDefaultsOptional } from "./http/decisions/published-fields.ts";
import { healthRoutes, type ReadinessChecks } from "./http/routes/health.ts";
import { jobMailRoutes } from "./http/routes/job-mails.ts";
import {
  inferenceFigureRoutes,
  type InferenceFigureRoutesDeps,
} from "./http/routes/inference-figures.ts";
import { inferenceRoutes, type InferenceRoutesDeps } from "./http/routes/inference.ts";
import { jobRoutes, type JobRoutesDeps } from "./http/routes/jobs.ts";
import { liveRoutes, type LiveRoutesDeps } from "./http/routes/live.ts";
import { keyRoutes, type KeyRoutesDeps } from "./http/routes/keys.ts";
import { requestMetrics } from "./http/request-metrics.ts";
import { huggingFaceRoutes } from "./http/routes/hugging-face.ts";
import { modelRoutes, type ModelRoutesDeps } from "./http/routes/models.ts";
import { metricsRoutes, type MetricsRoutesDeps } from "./http/routes/metrics.ts";
import { nodeFileRoutes, type NodeFileRoutesDeps } from "./http/routes/node-files.ts";
import { nodeAdmissionRoutes, type NodeAdmissionDeps } from "./http/routes/node-admission.ts";
import { deviceRoutes, type DeviceRoutesDeps } from "./http/routes/devices.ts";
import { nodeRoutes, type NodeRoutesDeps } from "./http/routes/nodes.ts";
import { personSessionRoutes } from "./http/routes/person-sessions.ts";
import { personalDataRoutes } from "./http/routes/personal-data.ts";
import { type ProjectCreationDeps, projectCreationRoute } from "./http/routes/project-creation.ts";
import { projectRoutes, type ProjectRoutesDeps } from "./http/routes/projects.ts";
import { serviceAccountRoutes } from "./http/routes/service-accounts.ts";
import { registryTokenRoutes, type RegistryTokenRoutesDeps } from "./http/routes/registry-token.ts";
import { objectRoutes, type ObjectRoutesDeps } from "./http/routes/objects.ts";
import {
  objectVersionRoutes,
  type ObjectVersionRoutesDeps,
} from "./http/routes/object-versions.ts";
import { pageRoutes, type PageRoutesDeps } from "./http/routes/pages.ts";
import { signInRoutes, type SignInRoutesDeps } from "./http/routes/sign-in.ts";
import { downloadRoutes, type DownloadRoutesDeps } from "./http/routes/downloads.ts";
import { sshKeyRoutes } from "./http/routes/ssh-keys.ts";
import { taskRoutes, type TaskRoutesDeps } from "./http/routes/tasks.ts";
import { hostHistoryRoutes, type HostHistoryRoutesDeps } from "./http/routes/host-history.ts";
import { poolRoutes } from "./http/routes/pools.ts";
import type { PoolParts } from "./pools/pool-parts.ts";
import { shareRoutes, type ShareRoutesDeps } from "./http/routes/shares.ts";
import { queueRoutes, type QueueRoutesDeps } from "./http/routes/queue.ts";
import { arrayRoutes, type ArrayRoutesDeps } from "./http/routes/arrays.ts";
import { scheduleRoutes, type ScheduleRoutesDeps } from "./http/routes/schedules.ts";
import { useRoutes, type UseRoutesDeps } from "./http/routes/use.ts";
import { uploadRoutes, type UploadRoutesDeps } from "./http/routes/uploads.ts";
import { AccessTokens } from "./identity/sign-in/access-tokens.ts";
import release from "../package.json" with { type: "json" };

export type AppDeps = AuditDeps &
  Omit<AuthenticationOptions, "maxFailuresPerMinute" | "sessions" | "tokens"> &
  SignInRoutesDeps &
  ApprovalRoutesDeps &
  AccessReviewRoutesDeps &
  KeyRoutesDeps &
  ProjectRoutesDeps &
  ProjectCreationDeps &
  BucketRoutesDeps &
  UploadRoutesDeps &
  ObjectRoutesDeps &
  ObjectVersionRoutesDeps &
  TaskRoutesDeps &
  DashboardRoutesDeps &
  AdviceRoutesDeps &
  JobRoutesDeps &
  QueueRoutesDeps &
  ArrayRoutesDeps &
  ScheduleRoutesDeps &
  ShareRoutesDeps &
  PoolParts &
  UseRoutesDeps &
  HostHistoryRoutesDeps &
  LiveRoutesDeps &
  Pick<PageRoutesDeps, "dashboard"> &
  DownloadRoutesDeps &
  AuditRoutesDeps &
  NodeRoutesDeps &
  DeviceRoutesDeps &
  NodeAdmissionDeps &
  ApplianceRoutesDeps &
  InferenceRoutesDeps &
  InferenceFigureRoutesDeps &
  ModelRoutesDeps &
  MetricsRoutesDeps &
  NodeFileRoutesDeps & {
    registry: RegistryTokenRoutesDeps;
    readiness: ReadinessChecks;
    logger: FastifyBaseLogger;
    limits?: Partial<typeof DEFAULT_LIMITS>;
    schemasCompiled?: SchemasCompiled;
  };

const DEFAULT_LIMITS = {
  /** Of one key, and of one address without a key; a client's poll and upload calls stay far below. */
  requestsPerMinute: 6_000,
  failuresPerMinute: 30,
  bodyBytes: 256 * 1024,
};

/** The caller listens, and closes. */
export async function buildApp(deps: AppDeps): Promise<FastifyInstance> {
  const limits = { ...DEFAULT_LIMITS, ...deps.limits };
  const app = await makeApi(
    deps.logger,
    {
      bodyLimit: limits.bodyBytes,
      // The front door ends connections that it needs no more; one that ends on this side could meet a request on its way.
      keepAliveTimeout: 0,
      forceCloseConnections: "idle",
      return503OnClosing: false,
    },
    deps.schemasCompiled,
  );
  await app.register(peerAddress);
  await app.register(leaveSocket);
  await app.register(requestMetrics, deps);
  await app.register(requestAudit, { ...deps, sourceOf: (request) => request.peer });
  await app.register(authentication, {
    ...deps,
    sessions: deps.identity?.sessions ?? null,
    tokens: deps.identity === null ? null : new AccessTokens(deps.identity),
    maxFailuresPerMinute: limits.failuresPerMinute,
  });
  await app.register(authorization);
  // After the key is known: of those who share an address none uses up what another may ask.
  await app.register(rateLimit, {
    hook: "preParsing",
    max: limits.requestsPerMinute,
    timeWindow: 60_000,
    keyGenerator: (request) => credentialOf(request.caller) ?? request.peer,
    errorResponseBuilder: () =>
      new ApiError("rate_limited", `more than ${limits.requestsPerMinute} requests in a minute`),
  });
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "ResonTech appliance",
        version: release.version,
        description: "Federated training inside one perimeter.",
      },
      components: {
        securitySchemes: {
          platformKey: { type: "http", scheme: "bearer", bearerFormat: "rsk_live_…" },
        },
      },
      security: [{ platformKey: [] }],
    },
    transform: ({ schema, url, route }) => ({
      schema: {
        ...schema,
        ...(schema?.querystring === undefined
          ? {}
          : { querystring: withDefaultsOptional(schema.querystring) }),
        ...(schema?.body === undefined ? {} : { body: withDefaultsOptional(schema.body) }),
        ...publishedAudit(route.config?.audit),
      },
      url,
    }),
    refResolver: {
      buildLocalReference: (schema) => (typeof schema.$id === "string" ? schema.$id : "unnamed"),
    },
  });
  await app.register(healthRoutes, { checks: deps.readiness });
  await app.register(bucketRoutes, deps);
  await app.register(uploadRoutes, deps);
  await app.register(objectRoutes, deps);
  await app.register(objectVersionRoutes, deps);
  await app.register(taskRoutes, deps);
  await app.register(dashboardRoutes, deps);
  await app.register(adviceRoutes, deps);
  await app.register(jobRoutes, deps);
  await app.register(queueRoutes, deps);
  await app.register(arrayRoutes, deps);
  await app.register(scheduleRoutes, deps);
  await app.register(shareRoutes, deps);
  await app.register(poolRoutes, deps);
  await app.register(useRoutes, deps);
  await app.register(hostHistoryRoutes, deps);
  await app.register(inferenceRoutes, deps);
  await app.register(inferenceFigureRoutes, deps);
  await app.register(modelRoutes, deps);
  await app.register(huggingFaceRoutes, deps);
  await app.register(jobMailRoutes, deps);
  await app.register(liveRoutes, deps);
  await app.register(keyRoutes, deps);
  await app.register(projectCreationRoute, deps);
  await app.register(projectRoutes, deps);
  await app.register(serviceAccountRoutes, deps);
  await app.register(auditRoutes, deps);
  await app.register(auditQuestionRoutes, deps);
  await app.register(nodeRoutes, deps);
  await app.register(deviceRoutes, deps);
  await app.register(nodeAdmissionRoutes, deps);
  await app.register(applianceRoutes, deps);
  await app.register(metricsRoutes, deps);
  await app.register(nodeFileRoutes, deps);
  await app.register(downloadRoutes, deps);
  await app.register(registryTokenRoutes, deps.registry);
  await app.register(signInRoutes, deps);
  await app.register(personSessionRoutes, deps);
  await app.register(personalDataRoutes, deps);
  await app.register(sshKeyRoutes, deps);
  await app.register(approvalRoutes, deps);
  await app.register(accessReviewRoutes, deps);
  await app.register(pageRoutes, deps);
  await app.ready();
  return app;
}

/** The description says of each route what it leaves in the audit log. */
function publishedAudit(audit: RouteAudit | undefined): object {
  return audit === undefined ? {} : { "x-audit": audit };
}
