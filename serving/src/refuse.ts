/** Answers of the gateway itself, in the error form of HOSTED-API. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { requestIdOf } from "./call.ts";

export type Refusal = { status: number; type: string; message: string; retryAfterS?: number };

/** The audit log does not answer. */
export const NOT_RECORDED: Refusal = {
  ...{ status: 503, type: "audit_unavailable", message: "the call can't be put on record now" },
  retryAfterS: 5,
};

export function refuse(
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
