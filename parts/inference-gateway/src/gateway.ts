/** HTTP of the inference gateway: knows keys and limits, and leads each call to a replica. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Route } from "@resontech/contracts/inference-routes";
import type { Logger } from "pino";
import { MAX_BODY_BYTES } from "./replica-body.ts";
import { type Call, callOf, keyOf, type OwnCall, ownCallOf } from "./call.ts";
import type { Replica } from "./admission.ts";
import type { Admissions } from "./admissions.ts";
import { admit, refusalOf } from "./admit.ts";
import type { Callbacks } from "./callbacks/callbacks.ts";
import { requestCallback } from "./callbacks/request-callback.ts";
import { type AskedOf, Exchange } from "./exchange.ts";
import { leadPredict } from "./lead-predict.ts";
import type { Outbound } from "./outbound/outbound.ts";
import type { KeyBudgets } from "./limits/key-budgets.ts";
import { callFailure } from "./numbers/call-failure.ts";
import type { CountedCall, GatewayNumbers } from "./numbers/gateway-numbers.ts";
import { mayCall, shownKey, type ShownKey } from "./may-call.ts";
import { answerOpenAi } from "./openai/answer-openai.ts";
import { openAiTargetOf } from "./openai-surface/openai-target.ts";
import type { ReplicaPool } from "./replica-pool.ts";
import type { CallOutcome } from "./records/call-line.ts";
import type { CallRecorder } from "./records/call-recorder.ts";
import type { CallRefusals } from "./records/call-refusals.ts";
import { Tally } from "./records/tally.ts";
import { NOT_RECORDED, refuse } from "./refuse.ts";
import type { RouteFollower } from "./route-follower.ts";

/** Of the gateway itself, for the supervisor: the front door leads nobody there. */
const HEALTH_PATH = "/healthz";
const HEALTH_MS = 5_000;
const NO_SUCH_CALL = { status: 404, type: "not_found", message: "no such call" } as const;
/** The coordinator has told nothing yet, or nothing for too long: a key that is good would be refused, and a deployment that is there not found. */
const NOTHING_KNOWN = {
  ...{ status: 503, type: "unavailable", retryAfterS: 5 },
  message: "the gateway does not know now which keys and deployments there are; try again",
} as const;
const WRONG_KEY = {
  ...{ status: 401, type: "auth_error", message: "the key is not one of this deployment" },
} as const;

export type GatewayParts = {
  routes: Pick<RouteFollower, "find" | "all" | "keys" | "isFresh" | "isTold">;
  admissions: Pick<Admissions, "enter" | "leave" | "noteUnreached" | "noteAnswer">;
  budgets: Pick<KeyBudgets, "enter">;
  numbers: Pick<GatewayNumbers, "begin" | "now">;
  pool: ReplicaPool;
  records: Pick<CallRecorder, "begin" | "note" | "end" | "isAvailable">;
  refusals: Pick<CallRefusals, "wrongKey" | "hidden">;
  outbound: Pick<Outbound, "source" | "receiver" | "open">;
  callbacks: Pick<Callbacks, "hasPlace" | "keep">;
  log: Logger;
};

export function makeGateway(parts: GatewayParts): Server {
  return createServer({ requestTimeout: 0, headersTimeout: 10_000 }, (request, response) => {
    answer(parts, request, response).catch((err: unknown) => {
      parts.log.error({ err }, "a call failed");
      refuse(request, response, { status: 500, type: "internal_error", message: "it failed here" });
    });
  });
}

async function answer(
  parts: GatewayParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { routes, pool, records } = parts;
  const beganAt = parts.numbers.now;
  if (request.method === "GET" && request.url === HEALTH_PATH) return void response.end("ok");
  const own = ownCallOf(request.method, request.url);
  if (own !== null && !routes.isFresh && openAiTargetOf(request.method, request.url) === null)
    return refuse(request, response, NOTHING_KNOWN);
  const isOwn = own !== null && routes.find(own.deployment)?.api === "own";
  const target = isOwn ? null : openAiTargetOf(request.method, request.url);
  if (target !== null) return await answerOpenAi(parts, target, request, response);
  const call = callOf(request.method, request.url);
  if (call === null) return refuse(request, response, NO_SUCH_CALL);
  const route = routes.find(call.deployment);
  // Whether there is such a deployment is its callers' to know: without a key all look the same.
  const shown = shownKey(keyOf(request.headers), routes.keys, Date.now());
  if (call.kind !== "health" && !mayCall(route, shown)) {
    if (!routes.isTold && shown !== null) return refuse(request, response, NOTHING_KNOWN);
    const told = { code: WRONG_KEY.type, status: WRONG_KEY.status };
    const isOnRecord = await parts.refusals.wrongKey(request, shown, told);
    return refuse(request, response, isOnRecord ? WRONG_KEY : NOT_RECORDED);
  }
  if (route === null)
    return refuse(request, response, {
      ...{ status: 503, type: "unavailable", message: "the deployment does not answer now" },
      retryAfterS: 5,
    });
  const asked = isOwn ? ownAsked(own, request) : askedOf(call, request);
  if (asked === null) return refuse(request, response, NO_SUCH_CALL);
  if (asked.method === "POST" && request.headers["content-length"] === undefined)
    return refuse(request, response, {
      ...{ status: 411, type: "length_required", message: "the length of the body is not said" },
    });
  if (Number(request.headers["content-length"] ?? 0) > MAX_BODY_BYTES)
    return refuse(request, response, {
      ...{ status: 413, type: "body_too_large", message: `at most ${MAX_BODY_BYTES} bytes` },
    });
  if (call.kind === "health" || shown === null) return tellHealth(pool, request, response, route);
  if (!records.isAvailable) return refuse(request, response, NOT_RECORDED);
  const counted = parts.numbers.begin(route.deployment, beganAt);
  let outcome: CallOutcome | null = null;
  try {
    outcome = await predictWithin(parts, { request, response, route, shown, counted, asked });
  } finally {
    // Who hung up while the call waited is in no record.
    const ended = outcome ?? (response.headersSent ? "answered" : "client_gone");
    counted.end(callFailure(ended, response.headersSent ? response.statusCode : null), null);
  }
}

type Predict = {
  request: IncomingMessage;
  response: ServerResponse;
  route: Route;
  shown: ShownKey;
  counted: CountedCall;
  asked: AskedOf;
};

/** What a replica of ours is asked; null for what it does not answer. */
function askedOf({ kind }: Call, request: IncomingMessage): AskedOf | null {
  if (kind === "own") return null;
  return kind === "health"
    ? { method: "GET", path: "/health" }
    : { method: "POST", path: "/predict", ...acceptOf(request) };
}

function ownAsked({ method, path }: OwnCall, request: IncomingMessage): AskedOf {
  return { method, path, ...acceptOf(request) };
}

function acceptOf({ headers: { accept } }: IncomingMessage): Pick<AskedOf, "accept"> {
  return accept === undefined ? {} : { accept };
}

/** @returns how the call went; null where no replica had it */
async function predictWithin(parts: GatewayParts, call: Predict): Promise<CallOutcome | null> {
  const { request, response, route, shown } = call;
  const within = parts.budgets.enter(route, shown, 0);
  for (const [name, value] of Object.entries(within.headers)) response.setHeader(name, value);
  if ("refusal" in within) {
    refuse(request, response, within.refusal);
    return null;
  }
  try {
    return await predict(parts, call);
  } finally {
    within.settle(0);
  }
}

async function predict(
  parts: GatewayParts,
  { request, response, route, shown, counted, asked }: Predict,
): Promise<CallOutcome | null> {
  // A program of its own streams what it likes: an answer that is kept first would come as a whole.
  const wished =
    route.api === "own" ? null : requestCallback(parts, route, request.headers["x-callback-url"]);
  if (wished !== null && "refusal" in wished) {
    refuse(request, response, wished.refusal);
    return null;
  }
  const admitted = await admit(parts, route, response);
  if (admitted === null) return null;
  if ("refusal" in admitted) {
    refuse(request, response, admitted.refusal);
    return null;
  }
  using place = admitted;
  const led = { request, response, place, shown, counted, asked };
  return await leadPredict(parts, { ...led, callback: wished });
}

/** Needs no key, so it wakes nobody, takes no call's place and keeps no replica up. */
async function tellHealth(
  pool: ReplicaPool,
  request: IncomingMessage,
  response: ServerResponse,
  { replicas, state, api }: Route,
): Promise<void> {
  const replica = replicas.find(({ isOpen }) => isOpen);
  // What a program of its own says of its health is for whoever has the key; that one is open means that it is well.
  if (replica !== undefined && api === "own") return tellStatus(response, "ok");
  if (replica !== undefined) return askHealth(pool, { request, response, replica });
  if (state === "FAILED") return refuse(request, response, refusalOf("load_failed", 60));
  tellStatus(response, state.toLowerCase());
}

function tellStatus(response: ServerResponse, status: string): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ status }));
}

type Asked = { request: IncomingMessage; response: ServerResponse };

/** A replica's own word on its health; it is no call, and stands in no record. */
async function askHealth(
  pool: ReplicaPool,
  { request, response, replica }: Asked & { replica: Replica },
): Promise<void> {
  using exchange = new Exchange(pool, { request, response, limitMs: HEALTH_MS });
  try {
    const from = await exchange.ask(replica, { method: "GET", path: "/health" }, null);
    await exchange.handOn(from, new Tally());
  } catch {
    if (!response.destroyed) refuse(request, response, exchange.refusal);
  }
}
