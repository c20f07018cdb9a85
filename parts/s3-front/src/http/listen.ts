/** The TLS listener: what may come in, how large, how slow. */
import { once } from "node:events";
import { createServer, type Server } from "node:https";
import { SERVER_TLS } from "@resontech/frame/tls-suites";
import type { Duplex } from "node:stream";
import type { Logger } from "pino";
import { errorDocument, S3Refusal } from "../decisions/s3-error.ts";
import type { Door } from "./door.ts";
import { CLIENT_IDLE_MS } from "./exchange.ts";
import { refuse } from "./refuse.ts";

/** The engine reads a head of 8 KiB, and ours adds a line to it. */
const MAX_HEAD_BYTES = 8_000;
/** `handshakeMs` from the connection to the end of its TLS handshake, `headMs` from then to the end of a request's head, which is looked at every `checkMs`. */
const LIMITS = { handshakeMs: 10_000, headMs: 20_000, checkMs: 5_000 };
const KEEP_ALIVE_MS = 65_000;
/** Each may hold a connection to the engine with its two read buffers: 512 KiB while it downloads. */
const MAX_CONNECTIONS = 1_024;
const STREAM_BUFFER_BYTES = 64 * 1024;

export type ListenOptions = { host: string; port: number; tls: { cert: string; key: string } };

export async function listen(
  door: Door,
  { host, port, tls }: ListenOptions,
  log: Logger,
  limits = LIMITS,
): Promise<Server> {
  const server = createServer({
    ...tls,
    handshakeTimeout: limits.handshakeMs,
    ...SERVER_TLS,
    maxHeaderSize: MAX_HEAD_BYTES,
    headersTimeout: limits.headMs,
    connectionsCheckingInterval: limits.checkMs,
    // A body may take hours; a silent one is ended by the idle time-out of its connection.
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    noDelay: true,
    requireHostHeader: true,
    insecureHTTPParser: false,
    highWaterMark: STREAM_BUFFER_BYTES,
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.timeout = CLIENT_IDLE_MS;
  const serve: Parameters<Server["on"]>[1] = (request, response) => {
    door.serve(request, response).catch((err: unknown) => {
      log.error({ err }, "a request was not answered");
      response.destroy();
    });
  };
  server.on("request", serve);
  // The same door: whoever waits for a 100 gets it once the engine is ready to take the body.
  server.on("checkContinue", serve);
  server.on("checkExpectation", (request, response) =>
    refuse(
      request,
      response,
      new S3Refusal("InvalidArgument", "nothing but 100-continue can be expected"),
      "none",
    ),
  );
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => answerGarbage(error, socket));
  server.listen(port, host);
  await once(server, "listening");
  return server;
}

/** What the parser refused never becomes a request; the sender is told in its own protocol and cut off. */
function answerGarbage(error: NodeJS.ErrnoException, socket: Duplex): void {
  // Who sent nothing in time asked nothing: an answer now would be taken for that of the next request. And without TLS none can be given.
  if (!socket.writable || error.code?.startsWith("HPE_") !== true) {
    socket.destroy();
    return;
  }
  const refusal =
    error.code === "HPE_HEADER_OVERFLOW"
      ? new S3Refusal(
          "RequestHeaderSectionTooLarge",
          `request line and headers may have ${MAX_HEAD_BYTES} bytes`,
        )
      : new S3Refusal("InvalidRequest", "this is no valid HTTP request");
  const body = errorDocument(refusal, "", "none");
  socket.end(
    `HTTP/1.1 ${refusal.status} Bad Request\r\nContent-Type: application/xml\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
