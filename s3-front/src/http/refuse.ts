import type { IncomingMessage, ServerResponse } from "node:http";
import { errorDocument, type S3Refusal } from "../decisions/s3-error.ts";

/** How much of a body that nobody wants is taken off the wire, and for how long, so that its sender gets to read the answer. */
const DRAIN_BYTES = 4 * 1024 ** 2;
const DRAIN_MS = 2_000;

/** Answers by ourselves. Who was told to wait for a 100 has sent no byte, and will send none. */
export function refuse(request: IncomingMessage, response: ServerResponse, refusal: S3Refusal, requestId: string): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const isHead = request.method === "HEAD";
  const document = isHead ? "" : errorDocument(refusal, request.url?.split("?")[0] ?? "/", requestId);
  const hasBody =
    !request.complete && (Number(request.headers["content-length"] ?? 0) > 0 || "transfer-encoding" in request.headers);
  response.writeHead(refusal.status, {
    "content-type": "application/xml",
    "content-length": Buffer.byteLength(document),
    "x-amz-request-id": requestId,
    ...(refusal.status === 503 ? { "retry-after": "2" } : {}),
    ...(hasBody ? { connection: "close" } : {}),
  });
  if (!hasBody || request.headers.expect !== undefined) {
    response.end(document);
    return;
  }
  // Ending closes the connection, and bytes that were not read would reset it before the answer is read.
  response.write(document);
  drain(request, () => response.end());
}

/** Takes a bounded rest of a body off the wire. */
export function drain(request: IncomingMessage, done: () => void): void {
  let left = DRAIN_BYTES;
  const finish = (): void => {
    clearTimeout(timer);
    request.off("data", take).off("end", finish).off("close", finish);
    done();
  };
  const take = (chunk: Buffer): void => {
    left -= chunk.length;
    if (left < 0) finish();
  };
  const timer = setTimeout(finish, DRAIN_MS);
  request.on("data", take).on("end", finish).on("close", finish);
  request.resume();
}
