/**
 * Operations on a Unix socket: `POST /<operation>` with JSON, answered with JSON. Whoever can open the socket may ask; its folder settles who that is.
 * `GET /healthz` tells how the process is.
 */
import { once } from "node:events";
import { chmod, rm, stat } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { dirname } from "node:path";
import type { Logger } from "pino";
import { Value } from "typebox/value";
import { type Answer, mayEndWith } from "./operation.ts";
import { type ErrorBody, OperationError } from "./operation-error.ts";
import { readBody } from "./read-body.ts";

export const HEALTH_PATH = "/healthz";
const OTHERS = 0o007;
const DEFAULT_REQUEST_BYTES = 32 * 1024;
/** For all of a request. An answer takes what it takes. */
const REQUEST_MS = 10_000;
const MAX_CONNECTIONS = 64;
const LIMITS = {
  maxHeaderSize: 8_192,
  ...{ headersTimeout: REQUEST_MS, requestTimeout: REQUEST_MS, connectionsCheckingInterval: 1_000 },
};
const STATUS_OF: Readonly<Record<string, number>> = {
  unknown_operation: 404,
  invalid_request: 400,
  request_too_long: 413,
  internal: 500,
};
const REFUSED = 409;

export type ServeOptions = {
  /** Of the socket; at most 107 bytes. Its folder is there, and closed to who is in no group of it. */
  path: string;
  answers: readonly Answer[];
  /** What `GET /healthz` answers. */
  health: () => object;
  log: Logger;
};

/** @returns what ends it: nobody is let in any more, and who waits for an answer gets it */
export async function serve({
  path,
  answers,
  health,
  log,
}: ServeOptions): Promise<AsyncDisposable> {
  const folder = dirname(path);
  if (((await stat(folder)).mode & OTHERS) !== 0)
    throw new Error(`${folder} is open to everybody: its mode must be 0750`);
  const byPath = new Map(answers.map((one) => [`/${one.operation.name}`, one]));
  const answered = new Set<Promise<void>>();
  const server = createServer(LIMITS, (request, response) => {
    if (request.method === "GET" && request.url === HEALTH_PATH)
      return void send(response, 200, health());
    const answering = reply(byPath, request, log)
      .then(([status, body]) => send(response, status, body))
      .catch((err: unknown) => {
        log.debug({ err }, "who asked hung up");
        response.destroy();
      })
      .finally(() => answered.delete(answering));
    answered.add(answering);
  });
  server.maxConnections = MAX_CONNECTIONS;
  await listen(server, path);
  return {
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, "close");
      server.close();
      await Promise.all(answered);
      server.closeAllConnections();
      await closed;
    },
  };
}

async function listen(server: Server, path: string): Promise<void> {
  // What lies there is a killed one's: who starts holds the part's lock.
  await rm(path, { force: true });
  server.listen(path);
  await once(server, "listening");
  await chmod(path, 0o660);
}

/** @throws when the request breaks off */
async function reply(
  byPath: ReadonlyMap<string, Answer>,
  request: IncomingMessage,
  log: Logger,
): Promise<[status: number, body: unknown]> {
  const found = request.method === "POST" ? byPath.get(request.url ?? "") : undefined;
  if (found === undefined) {
    request.resume();
    return refused(
      new OperationError("unknown_operation", `${request.method} ${request.url} is no operation`),
    );
  }
  const { operation, answer } = found;
  const text = await readBody(request, operation.maxRequestBytes ?? DEFAULT_REQUEST_BYTES);
  try {
    return [200, await answer(requestOf(text, found))];
  } catch (error) {
    if (error instanceof OperationError && mayEndWith(operation, error.code)) return refused(error);
    log.error({ err: error, operation: operation.name }, "an operation failed");
    return refused(new OperationError("internal", "the operation failed; the log says why"));
  }
}

/** @throws OperationError `request_too_long`, `invalid_request` */
function requestOf(text: string | null, { operation }: Answer): unknown {
  if (text === null)
    throw new OperationError(
      "request_too_long",
      `a request of ${operation.name} has at most ${operation.maxRequestBytes ?? DEFAULT_REQUEST_BYTES} bytes`,
    );
  const value = parsed(text);
  const [fault] = Value.Errors(operation.request, value);
  if (fault !== undefined)
    throw new OperationError(
      "invalid_request",
      `${operation.name}: ${fault.instancePath.slice(1).replaceAll("/", " ") || "the request"} ${fault.message}`,
    );
  return value;
}

/** What is no JSON has no operation's form either. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refused({ code, message }: OperationError): [number, ErrorBody] {
  return [STATUS_OF[code] ?? REFUSED, { code, message: message.slice(0, 4_096) }];
}

/** Resolves once the answer has left, or nobody is there to take it. */
async function send(response: ServerResponse, status: number, body: unknown): Promise<void> {
  const text = JSON.stringify(body);
  const gone = once(response, "close");
  response
    .writeHead(status, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
      // One question a connection: nobody's idle one keeps a process from ending.
      connection: "close",
    })
    .end(text);
  await gone;
}
