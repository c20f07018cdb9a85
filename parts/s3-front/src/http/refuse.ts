import type { IncomingMessage, ServerResponse } from "node:http";
import { GUARDED } from "../decisions/browser-guard.ts";
import { errorDocument, type S3Refusal } from "../decisions/s3-error.ts";

/**
 * How much of a body that nobody wants is taken off the wire, so that its sender gets to read the answer: most clients send the whole of it first.
 * The largest single bodies of common clients fit (rclone: 200 MiB). Whoever sends nothing for a while waits for us to hang up.
 */
const DRAIN_BYTES = 256 * 1024 ** 2;
const DRAIN_MS = 60_000;
const DRAIN_IDLE_MS = 3_000;

/** Answers by ourselves. */
export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  refusal: S3Refusal,
  requestId: string,
): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const isHead = request.method === "HEAD";
  const document = isHead
    ? ""
    : errorDocument(refusal, request.url?.split("?")[0] ?? "/", requestId);
  const hasBody =
    !request.complete &&
    (Number(request.headers["content-length"] ?? 0) > 0 || "transfer-encoding" in request.headers);
  response.writeHead(refusal.status, {
    ...GUARDED,
    "content-type": "application/xml",
    "content-length": Buffer.byteLength(document),
    "x-amz-request-id": requestId,
    // HEAD has no document to say it in.
    ...(isHead
      ? {
          "x-amz-error-code": refusal.code,
          "x-amz-error-message": refusal.message.replaceAll(/[^\x20-\x7e]/g, "?"),
        }
      : {}),
    ...(refusal.status === 503 ? { "retry-after": "2" } : {}),
    ...(hasBody ? { connection: "close" } : {}),
  });
  if (!hasBody) {
    response.end(document);
    return;
  }
  response.write(document);
  drain(request, () => response.end());
}

/**
 * Takes a bounded rest of a body off the wire once its answer is written, and calls `done`, which may close the connection: bytes that were not
 * read would reset it before the answer is read. Whoever waits for a 100 may send the body all the same, after a second or so of patience.
 */
export function drain(request: IncomingMessage, done: () => void): void {
  let left = DRAIN_BYTES;
  const finish = (): void => {
    clearTimeout(timer);
    clearTimeout(idle);
    request.off("data", take).off("end", finish).off("close", finish);
    done();
  };
  const take = (chunk: Buffer): void => {
    left -= chunk.length;
    idle.refresh();
    if (left < 0) finish();
  };
  const timer = setTimeout(finish, DRAIN_MS);
  const idle = setTimeout(finish, DRAIN_IDLE_MS);
  request.on("data", take).on("end", finish).on("close", finish);
  request.resume();
}
