/** The one place where a failure becomes a status and a `{code, message, hint}`. */
import { AuditUnavailable } from "@resontech/audit/producer";
import { KeycloakUnreachableError } from "@resontech/keycloak/address";
import { KeycloakRefusedError } from "@resontech/keycloak/admin-api";
import type { ErrorCode } from "@resontech/contracts/error-catalogue";
import type { FastifyError } from "fastify";
import fp from "fastify-plugin";
import { ApiError, errorBody } from "../api-error.ts";
import { DatabaseUnavailable } from "../db/database-unavailable.ts";
import {
  AwaitedJobMissing,
  DependencyFailed,
  Draining,
  GuaranteeTooSmall,
  IdempotencyConflict,
  IdempotencyGone,
  PersonLimitExceeded,
  PersonQueueFull,
  PoolLimitExceeded,
  PlanNotRecorded,
  PlanRecordDamaged,
  PoolUnknown,
  ShareLimitExceeded,
  WorkspaceBusy,
} from "../kernel/errors.ts";
import { S3ResponseError, S3UnavailableError } from "../storage/s3-transport.ts";

/** Fastify's own refusals, by its code. */
const FASTIFY_CODES: Record<string, ErrorCode> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "unsupported_media_type",
  FST_ERR_CTP_BODY_TOO_LARGE: "body_too_large",
  FST_ERR_CTP_EMPTY_JSON_BODY: "malformed_body",
  FST_ERR_CTP_INVALID_JSON_BODY: "malformed_body",
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "malformed_body",
  FST_ERR_CTP_INVALID_TYPE: "malformed_body",
  FST_ERR_BAD_URL: "not_found",
  FST_ERR_RATE_LIMIT: "rate_limited",
};

const RETRY_AFTER_S = 5;

export const errorReplies = fp(
  async (app) => {
    app.setErrorHandler<FastifyError>((error, request, reply) => {
      const known = asApiError(error);
      if (known === null) {
        request.log.error({ err: error }, "request failed");
        return reply
          .code(500)
          .send(errorBody("internal_error", `the request failed; its id is ${request.id}`));
      }
      if (known.status >= 500)
        request.log.error({ err: error, code: known.code }, "request refused");
      // As the front door says while this program is away: a part that can't be asked comes back.
      if (known.status === 503 && !reply.hasHeader("retry-after"))
        reply.header("retry-after", RETRY_AFTER_S);
      return reply.code(known.status).send(errorBody(known.code, known.message));
    });
    app.setNotFoundHandler((request, reply) =>
      reply
        .code(404)
        .headers(isOfHuggingFace(pathOf(request.url)) ? { "x-error-code": "RepoNotFound" } : {})
        .send(errorBody("not_found", `there is no ${request.method} ${pathOf(request.url)}`)),
    );
  },
  { name: "error-replies" },
);

/** Its clients tell by a header that what they name is not there: a model without an organisation, a set of data. */
function isOfHuggingFace(path: string): boolean {
  return /^\/api\/(?:models|datasets|spaces)\//.test(path);
}

/** Turns an error into what the API answers; null for a bug: whoever asked learns nothing but the request id. */
export function asApiError(error: unknown): ApiError | null {
  if (error instanceof ApiError) return error;
  if (error instanceof WorkspaceBusy) return new ApiError("workspace_busy", error.message);
  if (error instanceof AwaitedJobMissing) return new ApiError("not_found", error.message);
  if (error instanceof DependencyFailed) return new ApiError("dependency_failed", error.message);
  if (error instanceof IdempotencyConflict)
    return new ApiError("idempotency_conflict", error.message);
  if (error instanceof IdempotencyGone) return new ApiError("idempotency_gone", error.message);
  if (error instanceof PlanNotRecorded) return new ApiError("plan_not_recorded", error.message);
  if (error instanceof PlanRecordDamaged) return new ApiError("plan_record_damaged", error.message);
  if (error instanceof PoolUnknown) return new ApiError("pool_unknown", error.message);
  if (error instanceof PoolLimitExceeded) return new ApiError("pool_limit_exceeded", error.message);
  if (error instanceof ShareLimitExceeded)
    return new ApiError("share_limit_exceeded", error.message);
  if (error instanceof GuaranteeTooSmall) return new ApiError("guarantee_too_small", error.message);
  if (error instanceof PersonLimitExceeded)
    return new ApiError("person_limit_exceeded", error.message);
  if (error instanceof PersonQueueFull) return new ApiError("person_queue_full", error.message);
  if (error instanceof Draining) return new ApiError("audit_unavailable", error.message);
  if (error instanceof AuditUnavailable)
    return new ApiError("audit_unavailable", "the audit log did not acknowledge in time", {
      cause: error,
    });
  if (
    error instanceof KeycloakUnreachableError ||
    // It failed over it, or starts: nothing was judged.
    (error instanceof KeycloakRefusedError && error.status >= 500)
  )
    return new ApiError("identity_unavailable", "Keycloak did not answer", { cause: error });
  if (error instanceof DatabaseUnavailable)
    return new ApiError("database_unavailable", error.message, { cause: error });
  // The S3 front says 503 while the audit log, the engine behind it, or who owns what can't be asked.
  if (
    error instanceof S3UnavailableError ||
    (error instanceof S3ResponseError && error.status === 503)
  )
    return new ApiError("storage_unavailable", "the object store did not answer", { cause: error });
  if (!(error instanceof Error)) return null;
  const { validation, validationContext, code } = error as Partial<FastifyError>;
  if (validation !== undefined)
    return new ApiError(
      "validation_failed",
      validationMessage(validation, validationContext ?? "body"),
    );
  const mapped = code === undefined ? undefined : FASTIFY_CODES[code];
  if (mapped !== undefined) return new ApiError(mapped, error.message);
  return isCallersFault(error) ? new ApiError("malformed_request", error.message) : null;
}

/** Tells whether one of Fastify's refusals that no line above names is the caller's fault. */
function isCallersFault(error: Partial<FastifyError>): boolean {
  const { code = "", statusCode = 500 } = error;
  return code.startsWith("FST_") && statusCode >= 400 && statusCode < 500;
}

/** Names the field; never repeats its value. */
function validationMessage(
  validation: NonNullable<FastifyError["validation"]>,
  part: string,
): string {
  const [first] = validation;
  if (first === undefined) return `${part} is not valid`;
  const field = `${part}${first.instancePath.replaceAll("/", ".")}`;
  const unknown = first.params["additionalProperty"];
  return typeof unknown === "string"
    ? `${field} has no field ${JSON.stringify(unknown.slice(0, 64))}`
    : `${field} ${first.message ?? "is not valid"}`;
}

function pathOf(url: string): string {
  return url.split("?", 1)[0]!.slice(0, 200);
}
