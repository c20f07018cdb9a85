/** What the door answers by itself: the API's error form, and a page to a person who signs in. */
import { ERROR_CATALOGUE, type ErrorCode } from "@resontech/contracts/error-catalogue";

/** Seconds until it is worth asking again. */
const RETRY_AFTER_S = 2;
const NO_STORE = "hdr cache-control no-store hdr x-content-type-options nosniff";

const PAGE = [
  '<!doctype html><html lang="en"><meta charset="utf-8"><title>Sign-in is not available</title>',
  "<h1>Sign-in is not available</h1>",
  "<p>The part of this appliance that signs people in does not answer. It may be starting: that takes up to a minute.</p>",
  "<p>Try again then. If it lasts, ask the operator to look at <code>appliance status</code>.</p></html>",
].join("");

/** One argument of HAProxy's configuration, whatever stands in it. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function json(code: ErrorCode, message: string): string {
  const { status, hint } = ERROR_CATALOGUE[code];
  const retry = status === 503 ? ` hdr retry-after ${RETRY_AFTER_S}` : "";
  const body = quoted(JSON.stringify({ code, message, hint }));
  return `content-type application/json string ${body} ${NO_STORE}${retry}`;
}

/** Answer of a rule: `http-request <refuse(…)> if …`. */
export function refuse(code: ErrorCode, message: string): string {
  return `return status ${ERROR_CATALOGUE[code].status} ${json(code, message)}`;
}

/** Refuses as OAuth has it (RFC 6749, 5.2): programs that sign in by an assertion read nothing else. */
export function refuseAssertion(description: string): string {
  const body = JSON.stringify({ error: "invalid_client", error_description: description });
  return `return status 401 content-type application/json string ${quoted(body)} ${NO_STORE}`;
}

/** @param code its status is one that HAProxy gives by itself */
function onError(code: ErrorCode, message: string): string {
  return `http-error status ${ERROR_CATALOGUE[code].status} ${json(code, message)}`;
}

/** What HAProxy refuses before it knows where a request is for. */
export const OWN_ERRORS: readonly string[] = [
  onError("malformed_request", "the request is not HTTP, or its headers are far too long"),
  onError("request_timeout", "the request did not come in time"),
  onError("internal_error", "the front door could not handle the request"),
];

/** While the coordinator can't be asked. */
export const COORDINATOR_ERRORS: readonly string[] = [
  onError("restarting", "the coordinator does not run at this moment"),
  onError("answer_lost", "the coordinator ended before it answered"),
  onError("answer_late", "the coordinator did not answer in time"),
];

/** While the inference gateway can't be asked: in the form of its own errors, which clients of the OpenAI API read as well. */
export const SERVING_ERRORS: readonly string[] = [
  [502, "answer_lost", "the inference gateway ended before it answered"],
  [503, "restarting", "the inference gateway does not run at this moment"],
  [504, "answer_late", "the inference gateway did not answer in time"],
].map(([status, code, message]) => {
  const error = { message, type: "server_error", param: null, code };
  const retry = status === 503 ? ` hdr retry-after ${RETRY_AFTER_S}` : "";
  return `http-error status ${status} content-type application/json string ${quoted(JSON.stringify({ error }))} ${NO_STORE}${retry}`;
});

/** While Keycloak can't be asked: its paths are opened by people. */
export const SIGN_IN_ERRORS: readonly string[] = [502, 503, 504].map(
  (status) =>
    `http-error status ${status} content-type 'text/html; charset=utf-8' string ${quoted(PAGE)} ${NO_STORE} hdr retry-after ${RETRY_AFTER_S * 5} hdr content-security-policy ${quoted("default-src 'none'; frame-ancestors 'none'")}`,
);
