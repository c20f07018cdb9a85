/** HTTP of the witness: `POST /add-checkpoint`, `GET /<origin hash>/checkpoint`. Nothing that a client sends makes it hold much, or long. */
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import { MAX_BODY_BYTES } from "./add-checkpoint.ts";
import type { Answer, Witness } from "./witness.ts";

const LIMITS = {
  maxHeaderSize: 8_192,
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  keepAliveTimeout: 60_000,
  connectionsCheckingInterval: 1_000,
} as const satisfies ServerOptions;
const MAX_CONNECTIONS = 128;
const MAX_HEADERS = 64;
const MONITORED = /^\/([0-9a-f]{64})\/checkpoint$/;
const PLAIN = "text/plain; charset=utf-8";

/** One line for the operator. */
export type Served = { status: number; origin?: string; size?: number; reason?: string };
type Reply = { status: number; type?: string; body: string; allow?: string; served: Served };

/** Not listening yet. @param tls null: plain HTTP, for a network that is trusted; nothing secret is said on it */
export function witnessServer(
  witness: Witness,
  tls: { cert: Buffer; key: Buffer } | null,
  onServed: (line: Served) => void,
): Server {
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    reply(witness, request)
      .catch((error: unknown): Reply => {
        const reason = error instanceof Error ? error.message : String(error);
        return { status: 500, body: "internal\n", served: { status: 500, reason } };
      })
      .then(({ status, type = PLAIN, body, allow, served }) => {
        onServed(served);
        // What is left of a body that was refused is not read.
        if (!request.complete) response.setHeader("Connection", "close");
        if (allow !== undefined) response.setHeader("Allow", allow);
        response
          .writeHead(status, { "Content-Type": type, "Content-Length": Buffer.byteLength(body) })
          .end(body);
      })
      .catch(() => response.destroy());
  };
  const server =
    tls === null
      ? createServer(LIMITS, serve)
      : createTlsServer({ ...LIMITS, ...tls, minVersion: "TLSv1.2" }, serve);
  server.maxConnections = MAX_CONNECTIONS;
  server.maxHeadersCount = MAX_HEADERS;
  return server;
}

async function reply(witness: Witness, request: IncomingMessage): Promise<Reply> {
  const { method, url = "" } = request;
  const [, hash] = MONITORED.exec(url) ?? [];
  if (hash !== undefined) {
    if (method !== "GET") return refusal(405, "method", "GET");
    const note = await witness.cosigned(hash);
    return note === null
      ? refusal(404, "nothing_cosigned")
      : { status: 200, type: PLAIN, body: note, served: { status: 200 } };
  }
  if (url !== "/add-checkpoint") return refusal(404, "no_such_path");
  if (method !== "POST") return refusal(405, "method", "POST");
  const body = await bodyOf(request);
  return body === null ? refusal(413, "body_too_long") : replyOf(await witness.addCheckpoint(body));
}

function replyOf(answer: Answer): Reply {
  const origin = answer.origin ?? undefined;
  if (answer.status === 200)
    return {
      status: 200,
      type: PLAIN,
      body: answer.lines,
      served: { status: 200, origin, size: answer.size },
    };
  const { status, reason } = answer;
  const served = { status, origin, reason };
  if (status === 409) return { status, type: "text/x.tlog.size", body: `${answer.size}\n`, served };
  return { status, body: `${reason}\n`, served };
}

function refusal(status: number, reason: string, allow?: string): Reply {
  return { status, body: `${reason}\n`, allow, served: { status, reason } };
}

/** Reads all of a body; null for one that is longer than any request is. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
