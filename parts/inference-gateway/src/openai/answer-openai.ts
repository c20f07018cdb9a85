/** The OpenAI API over every deployment that a key may call, and over each by itself. */
import { hash, randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Route } from "@resontech/contracts/inference-routes";
import { engineCallOf, type OpenAiAsked } from "@resontech/contracts/openai-surface";
import type { Logger } from "pino";
import type { Admissions } from "../admissions.ts";
import { admit } from "../admit.ts";
import type { KeyBudgets } from "../limits/key-budgets.ts";
import { tokenBound, tokensUsed } from "../limits/token-bound.ts";
import { keyOf, requestIdOf } from "../call.ts";
import { callFailure } from "../numbers/call-failure.ts";
import type { CountedCall, GatewayNumbers } from "../numbers/gateway-numbers.ts";
import { mayCall, shownKey, type ShownKey } from "../may-call.ts";
import type { CallRecorder } from "../records/call-recorder.ts";
import type { CallRefusals } from "../records/call-refusals.ts";
import type { Refusal } from "../refuse.ts";
import type { ReplicaPool } from "../replica-pool.ts";
import type { RouteFollower } from "../route-follower.ts";
import { withCacheSalt } from "./cache-salt.ts";
import { type CallEnd, leadCall, NOT_RECORDED } from "./lead-call.ts";
import { findModel, modelOf, modelsOf } from "./models.ts";
import { errorBody, errorHeaders, invalidRequest, OpenAiError } from "./openai-error.ts";
import type { OpenAiTarget } from "../openai-surface/openai-target.ts";
import { readBody } from "./read-body.ts";
import { type OpenAiRequest, readRequestBody, requestFor } from "./request-body.ts";
import { isEventStream, WaitingStream } from "./waiting-stream.ts";

export type OpenAiParts = {
  routes: Pick<RouteFollower, "find" | "all" | "keys" | "isFresh" | "isTold">;
  admissions: Pick<Admissions, "enter" | "leave" | "noteUnreached" | "noteAnswer">;
  budgets: Pick<KeyBudgets, "enter">;
  numbers: Pick<GatewayNumbers, "begin" | "now">;
  pool: ReplicaPool;
  records: Pick<CallRecorder, "begin" | "end" | "isAvailable">;
  refusals: Pick<CallRefusals, "wrongKey" | "hidden">;
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
    await answer(parts, target, { request, response, requestId, beganAt: parts.numbers.now });
  } catch (error) {
    // Who is gone before an answer needs none.
    if (response.destroyed) return;
    if (!(error instanceof OpenAiError)) parts.log.error({ err: error }, "a call failed");
    refuse(request, response, error instanceof OpenAiError ? error : failedHere());
  }
}

type Exchange = {
  request: IncomingMessage;
  response: ServerResponse;
  requestId: string;
  /** Of the request's head, by the clock of the numbers. */
  beganAt: number;
};

/** @throws OpenAiError */
async function answer(
  parts: OpenAiParts,
  { deployment, wish }: OpenAiTarget,
  exchange: Exchange,
): Promise<void> {
  // Below a deployment's own address any path may be one of its program's.
  if (!parts.routes.isFresh && (wish.kind !== "none" || deployment !== null)) throw nothingKnown();
  if (wish.kind === "none") throw noSuchCall(wish.status, exchange.request);
  const { routes } = parts;
  const shown = shownKey(keyOf(exchange.request.headers), routes.keys, Date.now());
  const wrongKey = async () => {
    if (!routes.isTold && shown !== null) return nothingKnown();
    const bad = badKey();
    const { code, status } = bad.refusal;
    const isOnRecord = await parts.refusals.wrongKey(exchange.request, shown, { code, status });
    return isOnRecord ? bad : new OpenAiError(NOT_RECORDED);
  };
  // An address that was taken over is its successor's.
  const addressed = deployment === null ? null : routes.find(deployment);
  if (deployment !== null && addressed === null) throw await wrongKey();
  const callable = routes
    .all()
    .filter((route) => mayCall(route, shown))
    .filter((route) => addressed === null || route.deployment === addressed.deployment);
  // Whether there is such a deployment is its callers' to know: without a key all look the same. A platform key is good where nothing is deployed, too.
  if (shown === null || (callable.length === 0 && (shown.platform === null || deployment !== null)))
    throw await wrongKey();
  const routeOf = (name: string): Route => {
    const found = findModel(callable, name, projectOf(shown));
    if (found !== null) return found;
    const missing = noSuchModel(name);
    const { code, status } = missing.refusal;
    // At a deployment's own address there is no other that could be meant.
    if (addressed === null && findModel(routes.all(), name, null) !== null)
      parts.refusals.hidden(exchange.request, shown, { code, status });
    throw missing;
  };
  if (wish.kind === "models")
    return sendJson(exchange.response, {
      object: "list",
      data: modelsOf(callable, projectOf(shown)),
    });
  if (wish.kind === "model") return sendJson(exchange.response, modelOf(routeOf(wish.name)));
  const body = await readBody(exchange.request);
  const said = readRequestBody(wish.call, body);
  // A deployment's own address says which model is meant, whatever the client calls it.
  const name = addressed?.deployment ?? said.model;
  if (name === null) throw invalidRequest("missing_model", "the body names no model", "model");
  const route = routeOf(name);
  const asked = requestFor(wish.call, route.engine ?? null, said, route.name);
  const counted = parts.numbers.begin(route.deployment, exchange.beganAt);
  await counting(counted, exchange.response, (ended) =>
    callWithin(parts, exchange, {
      ...{ route, shown, call: wish.call, asked, body, ended },
      answering: () => counted.answering(),
    }),
  );
}

function nothingKnown(): OpenAiError {
  return unavailable(
    "the gateway does not know now which keys and deployments there are; try again",
  );
}

type AskedCall = {
  route: Route;
  shown: ShownKey;
  call: OpenAiAsked;
  asked: OpenAiRequest;
  body: Buffer;
  answering: () => void;
  ended: (end: Ended) => void;
};
type Ended = Pick<CallEnd, "outcome" | "status" | "usage">;

/** Counts the call however it ends. @throws what `make` does */
async function counting(
  counted: CountedCall,
  response: ServerResponse,
  make: (ended: (end: Ended) => void) => Promise<void>,
): Promise<void> {
  let end: Ended | null = null;
  let refused: number | null = null;
  try {
    await make((told) => (end = told));
  } catch (error) {
    refused = error instanceof OpenAiError ? error.refusal.status : 500;
    throw error;
  } finally {
    const { outcome, status, usage } = (end as Ended | null) ?? {
      ...{ outcome: response.destroyed ? "client_gone" : "answered", usage: null },
      status: refused,
    };
    counted.end(callFailure(outcome, refused ?? status), usage);
  }
}

/** @throws OpenAiError rate_limited, tokens_over_limit, and what {@link call} does */
async function callWithin(parts: OpenAiParts, exchange: Exchange, asked: AskedCall): Promise<void> {
  const { route, shown } = asked;
  const bound = tokenBound(engineCallOf(asked.call), asked.asked.body, route.contextTokens ?? null);
  const within = parts.budgets.enter(route, shown, bound.total);
  for (const [name, value] of Object.entries(within.headers))
    exchange.response.setHeader(name, value);
  if ("refusal" in within) throw notAdmitted(within.refusal);
  // Until an engine has it, it costs nothing.
  let used = 0;
  try {
    await call(parts, exchange, {
      ...asked,
      ended: (end) => {
        const { status, usage } = end;
        used = status !== null && status >= 400 ? 0 : tokensUsed(bound, usage);
        asked.ended(end);
      },
    });
  } finally {
    within.settle(used);
  }
}

/** @throws OpenAiError */
async function call(
  { routes, admissions, pool, records, log }: OpenAiParts,
  { response, requestId }: Exchange,
  { route, shown, call, asked, body, answering, ended }: AskedCall,
): Promise<void> {
  if (!records.isAvailable) throw new OpenAiError(NOT_RECORDED);
  const waiting = asked.isStream ? new WaitingStream(response) : null;
  const admitted = await admit({ admissions, routes }, route, response);
  waiting?.[Symbol.dispose]();
  if (admitted === null) return;
  if ("refusal" in admitted) throw notAdmitted(admitted.refusal);
  using place = admitted;
  const { deployment, project } = place.route;
  const id = randomUUID();
  const tenant = { deployment, project: projectOf(shown) ?? project };
  const salted = { ...asked, body: withCacheSalt(engineCallOf(call), asked.body, tenant) };
  await leadCall(
    pool,
    { call: engineCallOf(call), asked: salted, place, response },
    {
      begin: () =>
        records.begin({
          ...{ kind: "call", id, at: new Date().toISOString(), call },
          ...{ deployment, project, replica: place.replica.member, keySha256: shown.sha256 },
          requestSha256: hash("sha256", body),
          requestBytes: body.length,
        }),
      answering: () => {
        place.noteAnswer();
        answering();
      },
      end: ({ error, ...end }) => {
        ended(end);
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
  const type =
    status === 429 ? "rate_limit_error" : status < 500 ? "invalid_request_error" : "server_error";
  return new OpenAiError({ ...refusal, status, type, code });
}

function noSuchModel(name: string): OpenAiError {
  return new OpenAiError({
    ...{ status: 404, type: "invalid_request_error", code: "model_not_found", param: "model" },
    message: `the model ${JSON.stringify(name)} does not exist, or the key may not call it; GET /v1/models lists those that it may`,
  });
}

/** Answers the project of a key; null for a key of one deployment. */
function projectOf({ platform }: ShownKey): string | null {
  return platform?.project ?? null;
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
    message:
      "the key is missing, or it is neither one of a deployment that answers nor a platform key with the scope infer",
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
