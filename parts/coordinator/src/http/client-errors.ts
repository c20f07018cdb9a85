/** What the HTTP parser refuses before there is a request: answered in the form of every other error. */
import type { Socket } from "node:net";
import type { ErrorCode } from "@resontech/contracts/error-catalogue";
import { errorBody } from "../api-error.ts";

const STATUS: Readonly<Record<string, { line: string; code: ErrorCode; message: string }>> = {
  HPE_HEADER_OVERFLOW: {
    line: "431 Request Header Fields Too Large",
    code: "headers_too_large",
    message: "the headers are too long",
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    line: "408 Request Timeout",
    code: "request_timeout",
    message: "the request did not come in time",
  },
  HPE_INVALID_METHOD: {
    line: "405 Method Not Allowed",
    code: "method_not_allowed",
    message: "no route has this method",
  },
};
const MALFORMED = {
  line: "400 Bad Request",
  code: "malformed_request",
  message: "the request is not HTTP",
} as const;

/** Answers on the bare connection and ends it: nothing that follows can be told from what was refused. */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy(error);
    return;
  }
  const { line, code, message } = STATUS[error.code ?? ""] ?? MALFORMED;
  const body = JSON.stringify(errorBody(code, message));
  const headers = [
    "content-type: application/json; charset=utf-8",
    "cache-control: no-store",
    "connection: close",
  ];
  socket.end(
    `HTTP/1.1 ${line}\r\n${headers.join("\r\n")}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
