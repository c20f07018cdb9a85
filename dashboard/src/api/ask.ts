/** One request to the appliance's API, as the person who is signed in. Routes are checked against the table of its OpenAPI document. */
import {
  type ApiAsked,
  type ApiFields,
  type ApiMethod,
  type ApiPath,
  type ApiReply,
  requestPath,
  type UncheckedFields,
} from "@resontech/contracts/api-request";
import { auditHalt } from "./audit-halt.ts";
import { asProblem, Problem } from "./problem.ts";
import { sessionEnded } from "./session-end.ts";

let csrfToken = "";

/** Every request that changes anything names it. */
export function keepCsrfToken(token: string): void {
  csrfToken = token;
}

export function csrf(): string {
  return csrfToken;
}

/** What is said of a request beside its route's own fields. */
type Manner = {
  project?: string | undefined;
  signal?: AbortSignal;
  /** Says that a request is the same as an earlier one: it does once what is asked. */
  idempotencyKey?: string;
};
type Fields<M extends ApiMethod, P extends ApiPath<M>> = ApiFields<ApiAsked<M, P> & Manner>;

const TRIES = 4;
const WAIT_MS = 1_000;

/** Asks again where the connection broke, as it does when a network changes: only for what may be done twice. @throws Problem */
export async function askAgain<const M extends ApiMethod, const P extends ApiPath<M>>(
  method: M,
  path: P,
  ...asked: Fields<M, P>
): Promise<ApiReply<M, P>> {
  for (let tries = 1; ; tries++)
    try {
      return await ask(method, path, ...asked);
    } catch (error) {
      if (asProblem(error).status !== 0 || tries === TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS * tries));
    }
}

/** @throws Problem */
export async function ask<const M extends ApiMethod, const P extends ApiPath<M>>(
  method: M,
  path: P,
  ...[asked]: Fields<M, P>
): Promise<ApiReply<M, P>> {
  const { params, query, body, project, signal, idempotencyKey }: UncheckedFields & Manner =
    asked ?? {};
  const url = requestPath(path, { params, query: filled(query) });
  const headers = new Headers({ accept: "application/json" });
  if (method !== "GET") headers.set("x-rt-csrf", csrfToken);
  if (body !== undefined) headers.set("content-type", "application/json");
  if (project !== undefined) headers.set("x-rt-project", project);
  if (idempotencyKey !== undefined) headers.set("idempotency-key", idempotencyKey);
  let answer: Response;
  try {
    answer = await fetch(url, {
      ...{ method, headers, credentials: "same-origin", signal: signal ?? null },
      body: body === undefined ? null : JSON.stringify(body),
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw asProblem(error);
  }
  const told: unknown = await answer.json().catch(() => null);
  if (answer.ok) return told as ApiReply<M, P>;
  if (answer.status === 401) sessionEnded.tell();
  const said = (told ?? {}) as Partial<Record<"code" | "message" | "hint", string>>;
  if (said.code === "audit_unavailable") auditHalt.begin();
  throw new Problem({
    code: said.code ?? "reply_invalid",
    message: said.message ?? `the answer has status ${answer.status}`,
    hint: said.hint ?? "Try again. If it lasts, show the request id to the operator.",
    status: answer.status,
    requestId: answer.headers.get("x-request-id"),
  });
}

/** A field that a person left empty is no filter. */
function filled(query: UncheckedFields["query"] = {}): UncheckedFields["query"] {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ""));
}
