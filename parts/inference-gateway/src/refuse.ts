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

/** What a caller is told, in the form of HOSTED-API. */
export function refusalText({ type, message }: Refusal, requestId: string): string {
  return JSON.stringify({ error: { type, message, request_id: requestId } });
}

/** @param requestId @default as the client named the request, or one of its own */
export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  refusal: Refusal,
  requestId: string = requestIdOf(request.headers) ?? randomUUID(),
): void {
  if (response.headersSent) return void response.destroy();
  const { status, retryAfterS } = refusal;
  const body = refusalText(refusal, requestId);
  response.writeHead(status, {
    ...{ "content-type": "application/json", "content-length": Buffer.byteLength(body) },
    "x-request-id": requestId,
    ...(retryAfterS === undefined ? {} : { "retry-after": String(retryAfterS) }),
    // What is left of the body is nobody's: the connection goes with it.
    ...(request.complete ? {} : { connection: "close" }),
  });
  response.end(body);
}
