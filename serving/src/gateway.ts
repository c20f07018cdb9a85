/** HTTP of the inference gateway: knows keys and limits, and leads each call to a replica. */
import { createHash, randomUUID, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import type { Route } from "@resontech/contracts/inference-routes";
import type { Logger } from "pino";
import { callOf, keyOf, requestIdOf } from "./call.ts";
import type { Replica } from "./dial-replica.ts";
import type { ReplicaPool } from "./replica-pool.ts";
import type { RouteFollower } from "./route-follower.ts";

/** HOSTED-API: then 504. */
const PREDICT_MS = 60_000;
/** Of the gateway itself, for the supervisor: the front door leads nobody there. */
const HEALTH_PATH = "/healthz";
const HEALTH_MS = 5_000;
/** A call waits so long for a replica that has as many as it takes. */
const QUEUE_MS = 2_000;
const QUEUE_LOOK_MS = 20;
const MAX_BODY_BYTES = 1024 ** 3;
/** What of an answer is the replica's to say. */
const PASSED_HEADERS = ["content-type", "content-length", "x-replica-id", "retry-after"] as const;

export type GatewayParts = {
  routes: Pick<RouteFollower, "find" | "isFresh">;
  pool: ReplicaPool;
  log: Logger;
};

type Refusal = { status: number; type: string; message: string; retryAfterS?: number };

export function makeGateway(parts: GatewayParts): Server {
  return createServer({ requestTimeout: 0, headersTimeout: 10_000 }, (request, response) => {
    answer(parts, request, response).catch((err: unknown) => {
      parts.log.error({ err }, "a call failed");
      refuse(request, response, { status: 500, type: "internal_error", message: "it failed here" });
    });
  });
}

async function answer(
  { routes, pool, log }: GatewayParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method === "GET" && request.url === HEALTH_PATH) return void response.end("ok");
  const call = callOf(request.method, request.url);
  if (call === null)
    return refuse(request, response, { status: 404, type: "not_found", message: "no such call" });
  const route = routes.find(call.deployment);
  // Whether there is such a deployment is its callers' to know: without a key all look the same.
  if (call.kind === "predict" && !mayCall(route, keyOf(request.headers)))
    return refuse(request, response, {
      ...{ status: 401, type: "auth_error", message: "the key is not one of this deployment" },
    });
  if (route === null)
    return refuse(request, response, {
      ...{ status: 503, type: "unavailable", message: "the deployment does not answer now" },
      retryAfterS: 5,
    });
  if (Number(request.headers["content-length"] ?? 0) > MAX_BODY_BYTES)
    return refuse(request, response, {
      ...{ status: 413, type: "body_too_large", message: `at most ${MAX_BODY_BYTES} bytes` },
    });
  const replica = await freeReplica(pool, route, request);
  if (replica === null)
    return refuse(request, response, {
      ...{ status: 503, type: "busy", message: "every replica has as many calls as it takes" },
      retryAfterS: 1,
    });
  try {
    await lead({ pool, log }, { request, response, replica, kind: call.kind });
  } finally {
    pool.release(replica);
  }
}

async function freeReplica(
  pool: ReplicaPool,
  route: Route,
  request: IncomingMessage,
): Promise<Replica | null> {
  for (const until = performance.now() + QUEUE_MS; ; ) {
    const replica = pool.acquire(route);
    if (replica !== null || performance.now() > until || request.destroyed) return replica;
    await new Promise((resolve) => setTimeout(resolve, QUEUE_LOOK_MS));
  }
}

async function lead(
  { pool, log }: Pick<GatewayParts, "pool" | "log">,
  {
    request,
    response,
    replica,
    kind,
  }: {
    request: IncomingMessage;
    response: ServerResponse;
    replica: Replica;
    kind: "predict" | "health";
  },
): Promise<void> {
  const requestId = requestIdOf(request.headers) ?? randomUUID();
  const { "content-type": contentType, "content-length": length } = request.headers;
  const asked = pool.request(replica, {
    ...{ method: kind === "predict" ? "POST" : "GET", path: `/${kind}` },
    headers: {
      host: "replica",
      "x-request-id": requestId,
      ...(contentType === undefined ? {} : { "content-type": contentType }),
      ...(length === undefined ? {} : { "content-length": length }),
    },
  });
  const limitMs = kind === "predict" ? PREDICT_MS : HEALTH_MS;
  let isLate = false;
  const late = setTimeout(() => {
    isLate = true;
    asked.destroy();
  }, limitMs);
  // Who hangs up needs no answer: the replica is told by the end of its connection.
  response.once("close", () => asked.destroy());
  try {
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      asked.once("response", resolve);
      asked.once("error", reject);
    });
    const sent = kind === "predict" ? pipeline(request, asked) : Promise.resolve(void asked.end());
    sent.catch(() => {});
    const from = await answered;
    response.statusCode = from.statusCode ?? 502;
    response.setHeader("x-request-id", requestId);
    for (const name of PASSED_HEADERS) {
      const value = from.headers[name];
      if (value !== undefined) response.setHeader(name, value);
    }
    await pipeline(from, response);
  } catch (err) {
    if (response.destroyed) return;
    log.warn({ err, member: replica.member }, "a call did not come back");
    if (response.headersSent) response.destroy();
    else if (isLate)
      refuse(request, response, {
        ...{ status: 504, type: "timeout", message: `no answer in ${limitMs / 1_000} s` },
      });
    else
      refuse(request, response, {
        ...{ status: 502, type: "replica_unreachable", message: "the replica went away" },
        retryAfterS: 1,
      });
  } finally {
    clearTimeout(late);
  }
}

/** In a time that tells nothing about the key. */
function mayCall(route: Route | null, key: string | null): boolean {
  const shown = createHash("sha256")
    .update(key ?? "")
    .digest();
  const good = Buffer.from(route?.keySha256 ?? "0".repeat(64), "hex");
  return timingSafeEqual(shown, good) && route !== null && key !== null;
}

function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, type, message, retryAfterS }: Refusal,
): void {
  if (response.headersSent) return void response.destroy();
  const requestId = requestIdOf(request.headers) ?? randomUUID();
  const body = JSON.stringify({ error: { type, message, request_id: requestId } });
  response.writeHead(status, {
    ...{ "content-type": "application/json", "content-length": Buffer.byteLength(body) },
    "x-request-id": requestId,
    ...(retryAfterS === undefined ? {} : { "retry-after": String(retryAfterS) }),
    // What is left of the body is nobody's: the connection goes with it.
    ...(request.complete ? {} : { connection: "close" }),
  });
  response.end(body);
}
