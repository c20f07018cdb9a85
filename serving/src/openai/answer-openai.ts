/** The OpenAI API over every deployment that a key may call, and over each by itself. */
import { createHash, randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Route } from "@resontech/contracts/inference-routes";
import type { OpenAiCall } from "@resontech/contracts/openai-surface";
import type { Logger } from "pino";
import type { Admissions } from "../admissions.ts";
import { admit } from "../admit.ts";
import { keyOf, requestIdOf } from "../call.ts";
import { mayCall } from "../may-call.ts";
import type { CallRecorder } from "../records/call-recorder.ts";
import type { Refusal } from "../refuse.ts";
import type { ReplicaPool } from "../replica-pool.ts";
import type { RouteFollower } from "../route-follower.ts";
import { leadCall, NOT_RECORDED } from "./lead-call.ts";
import { findModel, modelOf, modelsOf } from "./models.ts";
import { errorBody, errorHeaders, invalidRequest, OpenAiError } from "./openai-error.ts";
import type { OpenAiTarget } from "./openai-target.ts";
import { readBody } from "./read-body.ts";
import { type OpenAiRequest, readRequestBody } from "./request-body.ts";
import { isEventStream, WaitingStream } from "./waiting-stream.ts";

export type OpenAiParts = {
  routes: Pick<RouteFollower, "find" | "all" | "isFresh">;
  admissions: Pick<Admissions, "enter" | "leave" | "noteUnreached">;
  pool: ReplicaPool;
  records: Pick<CallRecorder, "begin" | "end" | "isAvailable">;
  log: Logger;
};

export async function answerOpenAi(
  parts: OpenAiParts,
  target: OpenAiTarget,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const requestId = requestIdOf(request.headers) ?? randomUUID();
  response.setHeader("x-request-id", requestId);
  try {
    await answer(parts, target, { request, response, requestId });
  } catch (error) {
    // Who is gone before an answer needs none.
    if (response.destroyed) return;
    if (!(error instanceof OpenAiError)) parts.log.error({ err: error }, "a call failed");
    refuse(request, response, error instanceof OpenAiError ? error : failedHere());
  }
}

type Exchange = { request: IncomingMessage; response: ServerResponse; requestId: string };

/** @throws OpenAiError */
async function answer(
  parts: OpenAiParts,
  { deployment, wish }: OpenAiTarget,
  exchange: Exchange,
): Promise<void> {
  if (wish.kind === "none") throw noSuchCall(wish.status, exchange.request);
  if (!parts.routes.isFresh) throw unavailable("the gateway does not know now who answers");
  const key = keyOf(exchange.request.headers);
  // An address that was taken over is its successor's.
  const addressed = deployment === null ? null : parts.routes.find(deployment);
  if (deployment !== null && addressed === null) throw badKey();
  const callable = parts.routes
    .all()
    .filter((route) => mayCall(route, key))
    .filter((route) => addressed === null || route.deployment === addressed.deployment);
  // Whether there is such a deployment is its callers' to know: without a key all look the same.
  if (callable.length === 0) throw badKey();
  if (wish.kind === "models")
    return sendJson(exchange.response, { object: "list", data: modelsOf(callable) });
  if (wish.kind === "model")
    return sendJson(exchange.response, modelOf(routeOf(callable, wish.name)));
  const body = await readBody(exchange.request);
  const asked = readRequestBody(wish.call, body);
  // A deployment's own address says which model is meant, whatever the client calls it.
  const name = addressed?.deployment ?? asked.model;
  if (name === null) throw invalidRequest("missing_model", "the body names no model", "model");
  await call(parts, exchange, { route: routeOf(callable, name), call: wish.call, asked, body });
}

type AskedCall = { route: Route; call: OpenAiCall; asked: OpenAiRequest; body: Buffer };

async function call(
  { routes, admissions, pool, records, log }: OpenAiParts,
  { response, requestId }: Exchange,
  { route, call, asked, body }: AskedCall,
): Promise<void> {
  if (!records.isAvailable) throw new OpenAiError(NOT_RECORDED);
  using _waiting = asked.isStream ? new WaitingStream(response) : null;
  const admitted = await admit({ admissions, routes }, route, response);
  _waiting?.[Symbol.dispose]();
  if (admitted === null) return;
  if ("refusal" in admitted) throw notAdmitted(admitted.refusal);
  using place = admitted;
  const { deployment, project, keySha256 } = place.route;
  const id = randomUUID();
  await leadCall(
    pool,
    { call, asked, place, response },
    {
      begin: async () => {
        await records.begin({
          ...{ kind: "call", id, at: new Date().toISOString(), call },
          ...{ deployment, project, replica: place.replica.member, keySha256 },
          requestSha256: createHash("sha256").update(body).digest("hex"),
          requestBytes: body.length,
        });
      },
      end: ({ error, ...end }) => {
        records.end({ kind: "end", id, at: new Date().toISOString(), ...end });
        if (error !== undefined && end.outcome !== "client_gone")
          log.warn(
            { err: error, member: place.replica.member, requestId },
            "a call did not come back",
          );
      },
    },
  );
}

function notAdmitted({ status, type: code, ...refusal }: Refusal): OpenAiError {
  const type = status === 429 ? "rate_limit_error" : "server_error";
  return new OpenAiError({ ...refusal, status, type, code });
}

/** @throws OpenAiError model_not_found */
function routeOf(callable: readonly Route[], name: string): Route {
  const route = findModel(callable, name);
  if (route !== null) return route;
  throw new OpenAiError({
    ...{ status: 404, type: "invalid_request_error", code: "model_not_found", param: "model" },
    message: `the model ${JSON.stringify(name)} does not exist, or the key may not call it; GET /v1/models lists those that it may`,
  });
}

function noSuchCall(status: 404 | 405, { method, url = "" }: IncomingMessage): OpenAiError {
  const [path] = url.split("?", 1);
  return new OpenAiError({
    ...{ status, type: "invalid_request_error" },
    code: status === 404 ? "unknown_url" : "method_not_supported",
    message: `there is no ${method} ${path}`,
  });
}

function badKey(): OpenAiError {
  return new OpenAiError({
    ...{ status: 401, type: "authentication_error", code: "invalid_api_key" },
    message: "the key is missing, or it is not one of a deployment that answers",
  });
}

function unavailable(message: string): OpenAiError {
  return new OpenAiError({
    ...{ status: 503, type: "server_error", code: "unavailable", retryAfterS: 5, message },
  });
}

function failedHere(): OpenAiError {
  return new OpenAiError({
    ...{ status: 500, type: "server_error", code: "internal_error", isBegun: true },
    message: "it failed here",
  });
}

function sendJson(response: ServerResponse, value: unknown): void {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(value));
}

function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  { refusal }: OpenAiError,
): void {
  const body = errorBody(refusal);
  // A stream that was held open while its call waited has no status left to say so.
  if (isEventStream(response)) return void response.end(`data: ${body}\n\n`);
  if (response.headersSent) return void response.destroy();
  response.writeHead(refusal.status, {
    ...errorHeaders(refusal),
    "content-length": Buffer.byteLength(body),
    // What is left of the body is nobody's: the connection goes with it.
    ...(request.complete ? {} : { connection: "close" }),
  });
  response.end(body);
}
