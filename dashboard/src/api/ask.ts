/** One request to the appliance's API, as the person who is signed in. */
import { auditHalt } from "./audit-halt.ts";
import { asProblem, Problem } from "./problem.ts";
import { sessionEnded } from "./session-end.ts";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

let csrfToken = "";

/** Every request that changes anything names it. */
export function keepCsrfToken(token: string): void {
  csrfToken = token;
}

export function csrf(): string {
  return csrfToken;
}

export type Asking = {
  body?: object;
  project?: string;
  signal?: AbortSignal;
  /** Says that a request is the same as an earlier one: it does once what is asked. */
  idempotencyKey?: string;
};

const TRIES = 4;
const WAIT_MS = 1_000;

/** Asks again where the connection broke, as it does when a network changes: only for what may be done twice. @throws Problem */
export async function askAgain<T>(method: Method, path: string, asking: Asking): Promise<T> {
  for (let tries = 1; ; tries++)
    try {
      return await ask<T>(method, path, asking);
    } catch (error) {
      if (asProblem(error).status !== 0 || tries === TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS * tries));
    }
}

/** @throws Problem */
export async function ask<T>(
  method: Method,
  path: string,
  { body, project, signal, idempotencyKey }: Asking = {},
): Promise<T> {
  const headers = new Headers({ accept: "application/json" });
  if (method !== "GET") headers.set("x-rt-csrf", csrfToken);
  if (body !== undefined) headers.set("content-type", "application/json");
  if (project !== undefined) headers.set("x-rt-project", project);
  if (idempotencyKey !== undefined) headers.set("idempotency-key", idempotencyKey);
  let answer: Response;
  try {
    answer = await fetch(path, {
      ...{ method, headers, credentials: "same-origin", signal: signal ?? null },
      body: body === undefined ? null : JSON.stringify(body),
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw asProblem(error);
  }
  const told: unknown = await answer.json().catch(() => null);
  if (answer.ok) return told as T;
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

/** A path with a query of what is not undefined. */
export function withQuery(
  path: string,
  query: Readonly<Record<string, string | number | undefined>>,
): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== "") params.set(name, String(value));
  return params.size === 0 ? path : `${path}?${params.toString()}`;
}
