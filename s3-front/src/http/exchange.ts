/**
 * One request on its way to the engine and the answer on its way back, byte for byte, with back-pressure and nothing kept. A client that
 * goes away ends the engine's request, an engine that goes away ends the client's.
 */
import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http";
import type { Answer } from "../decisions/records.ts";
import { endToEnd } from "../decisions/request-headers.ts";
import { codeOfDocument } from "../decisions/s3-error.ts";
import { type Engine, EngineUnavailable } from "./engine.ts";
import { drain } from "./refuse.ts";

/** Of a client that sends or reads nothing. */
export const CLIENT_IDLE_MS = 60_000;
/** While the engine works on a request that has arrived whole. */
const ENGINE_WORKS_MS = 15 * 60_000;
/** An error document, or that of a completed upload; longer ones pass unread. */
const DOCUMENT_BYTES = 64 * 1024;

export type Exchange = {
  request: IncomingMessage;
  response: ServerResponse;
  /** `stream` sends the request's own body on. */
  body: "stream" | Buffer;
  /** Whether the answer is a small document that may say an error under status 200. */
  isDocument: boolean;
  /** What the engine said, before a byte of it goes to the client; the client is answered when it resolves. */
  onAnswer: (answer: Answer, head: IncomingMessage, document: string) => Promise<void>;
};

/** The client went away before it was answered. */
export class ClientGone extends Error {
  override readonly name = "ClientGone";
}

/**
 * Resolves when the answer is on its way; what happens to it then concerns these two alone.
 * @throws EngineUnavailable, ClientGone before there is an answer, and what `onAnswer` throws
 */
export async function exchange(engine: Engine, { request, response, body, isDocument, onAnswer }: Exchange): Promise<void> {
  if (response.destroyed) throw new ClientGone("the client went away");
  const sent = engine.open(request.method ?? "GET", request.url ?? "/", headersFor(request));
  const onClientGone = (): void => {
    if (!response.writableFinished) sent.destroy(new ClientGone("the client went away"));
  };
  response.once("close", onClientGone);
  try {
    const head = await headOf(sent, request, response, body);
    const status = head.statusCode ?? 502;
    const document = (status >= 300 || isDocument) && request.method !== "HEAD" ? await read(head) : null;
    const code = document === null || (status < 300 && !document.text.includes("<Error>")) ? null : codeOfDocument(document.text);
    const length = head.headers["content-length"];
    await onAnswer({ status, code, bytes: length === undefined ? null : Number(length) }, head, document?.text ?? "");
    send(head, document?.bytes ?? null, request, response);
  } catch (error) {
    sent.destroy();
    throw error;
  }
}

/** The frame of a body is the connection's. Node makes a chunked one where no length is given: who sends none says so. */
function headersFor(request: IncomingMessage): string[] {
  const headers = endToEnd(request.rawHeaders);
  const hasFrame = request.headers["content-length"] !== undefined || request.headers["transfer-encoding"] !== undefined;
  if (!hasFrame && !["GET", "HEAD", "DELETE"].includes(request.method ?? "")) headers.push("Content-Length", "0");
  return headers;
}

async function headOf(
  sent: ClientRequest,
  request: IncomingMessage,
  response: ServerResponse,
  body: "stream" | Buffer,
): Promise<IncomingMessage> {
  const answered = Promise.withResolvers<IncomingMessage>();
  sent.once("response", answered.resolve);
  sent.on("error", (error) =>
    answered.reject(
      error instanceof ClientGone ? error : new EngineUnavailable("the object store does not answer", { cause: error }),
    ),
  );
  sent.once("close", () => answered.reject(new EngineUnavailable("the object store went away")));
  sent.once("timeout", () => sent.destroy(new Error("the object store is silent")));
  const flow = (): void => {
    if (body === "stream") {
      request.socket.setTimeout(CLIENT_IDLE_MS);
      request.pipe(sent);
      request.once("end", () => request.socket.setTimeout(ENGINE_WORKS_MS));
    } else sent.end(body);
  };
  if (request.headers.expect === undefined || body !== "stream") flow();
  else {
    sent.once("continue", () => {
      response.writeContinue();
      flow();
    });
    sent.flushHeaders();
  }
  const head = await answered.promise;
  request.unpipe(sent);
  return head;
}

/** The whole of a small document, or what came of it when it is too long: the rest follows. */
async function read(head: IncomingMessage): Promise<{ bytes: Buffer[]; text: string }> {
  const bytes: Buffer[] = [];
  let length = 0;
  const done = Promise.withResolvers<void>();
  const take = (chunk: Buffer): void => {
    bytes.push(chunk);
    length += chunk.length;
    if (length <= DOCUMENT_BYTES) return;
    head.pause();
    done.resolve();
  };
  const fail = (): void => done.reject(new EngineUnavailable("the object store broke off its answer"));
  head.on("data", take).once("end", done.resolve).once("aborted", fail);
  await done.promise;
  head.off("data", take).off("end", done.resolve).off("aborted", fail);
  return { bytes, text: Buffer.concat(bytes).toString("utf8") };
}

function send(head: IncomingMessage, first: readonly Buffer[] | null, request: IncomingMessage, response: ServerResponse): void {
  // The engine answered before the body had arrived: what is left of it is in nobody's way once the connection ends.
  const isEarly = !request.complete;
  const headers = endToEnd(head.rawHeaders);
  if (isEarly) headers.push("Connection", "close");
  request.socket.setTimeout(CLIENT_IDLE_MS);
  response.writeHead(head.statusCode ?? 502, head.statusMessage ?? "", headers);
  for (const chunk of first ?? []) response.write(chunk);
  const finish = (): void => {
    if (isEarly && request.headers.expect === undefined) drain(request, () => response.end());
    else response.end();
  };
  if (head.readableEnded) {
    finish();
    return;
  }
  head.once("end", finish);
  head.once("aborted", () => response.destroy());
  head.pipe(response, { end: false });
}
