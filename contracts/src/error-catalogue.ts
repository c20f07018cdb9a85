/**
 * Every error code that a person or a client can see, with its HTTP status and what to do about it.
 * `docs/errors.md` lists the same codes; a test fails when they differ. Codes never change meaning.
 */
type ErrorEntry = { status: number; hint: string };

export const ERROR_CATALOGUE = {
  // 400
  validation_failed: { status: 400, hint: "Correct the named field and send the request again." },
  // 401, 403
  invalid_api_key: { status: 401, hint: "Use a platform key that is neither revoked nor expired." },
  malformed_bearer: { status: 401, hint: "Send `Authorization: Bearer rsk_live_…`." },
  session_required: { status: 401, hint: "Sign in, or send a platform key." },
  session_only: { status: 403, hint: "Platform keys are minted in a signed-in browser session, never by a key." },
  role_required: { status: 403, hint: "Ask a project lead or an administrator for the role." },
  // 404, 409, 429
  not_found: { status: 404, hint: "Check the id; another project's objects are not visible to this key." },
  too_many_keys: { status: 409, hint: "Revoke a key that is no longer used." },
  workspace_busy: { status: 409, hint: "Wait for the job that uses this folder, cancel it, or submit under another name." },
  rate_limited: { status: 429, hint: "Send fewer requests; the Retry-After header says when." },
  // 5xx
  internal_error: { status: 500, hint: "Report the request id to the operator; the log has the cause." },
  audit_unavailable: { status: 503, hint: "The audit log can't be written; the operator must look at `appliance status`." },
  storage_unavailable: { status: 503, hint: "The object store did not answer; try again, then ask the operator." },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

/** The body of every control-plane error. */
export type ErrorBody = { code: ErrorCode; message: string; hint: string };
