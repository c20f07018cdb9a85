/**
 * One request on its way to the engine and the answer on its way back, byte for byte, with back-pressure and nothing kept. An engine that
 * goes away ends the client's request, and a client that goes away the engine's; but of a change that the engine has been asked for whole the
 * answer is heard all the same: it would be made anyway, and nobody would know of it.
 */
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import { guarded, withoutCookies } from "../decisions/browser-guard.ts";
import type { AnswerHead } from "../decisions/answer-head.ts";
import type { Answer } from "../decisions/records.ts";
import { endToEnd, plainEncoding, withoutTalk } from "../decisions/request-headers.ts";
import { codeOfDocument } from "../decisions/s3-error.ts";
import type { Engine } from "./engine.ts";
import type { EngineConnection, Taker } from "./engine-connection.ts";
import { drain } from "./refuse.ts";

/** Of a client that sends or reads nothing. */
export const CLIENT_IDLE_MS = 60_000;
/**
 * The engine looks at a request's signature once it has so much of the body, or all: for so long at most room is held for a claim that is
 * not proven, and a connection of the engine's with it.
 */
const UNPROVEN_BYTES = 8 * 1024;
const UNPROVEN_MS = 20_000;
/** While the engine works on a request that has arrived whole. */
const ENGINE_WORKS_MS = 15 * 60_000;
/** Small objects are read whole, and sent with the head in one call. */
const SHORT_BYTES = 64 * 1024;
/** The longest document that says how something went: a thousand keys of a thousand bytes, each escaped. */
const DOCUMENT_BYTES = 8 * 1024 ** 2;

export type Exchange = {
  request: IncomingMessage;
  response: ServerResponse;
  /** Lower-case names of the request's headers that must reach the engine. */
  signedHeaders: ReadonlySet<string>;
  /** `stream` sends the request's own body on. */
  body: "stream" | Buffer;
  /** Whether the answer is a document that may say an error under status 200. */
  isDocument: boolean;
  /** What the engine is told besides: name, value. */
  talk?: readonly string[];
  /** Another answer in the place of the engine's, where that was read whole; null leaves it. */
  revise?: (
    answer: Answer,
    headers: ReadonlyMap<string, string>,
  ) => { status: number; code: string | null; document: string } | null;
  /** What the engine said, before a byte of it goes to the client; the client is answered when it resolves. */
  onAnswer: (
    answer: Answer,
    headers: ReadonlyMap<string, string>,
    document: string,
  ) => Promise<void>;
};

/** The client went away before it was answered; what `onAnswer` was told stands. */
export class ClientGone extends Error {
  override readonly name = "ClientGone";
}

/**
 * Resolves when the client has its answer, or nobody is left to take it.
 * @throws EngineUnavailable, ClientGone before the client has its answer, and what `onAnswer` throws
 */
export async function exchange(engine: Engine, asked: Exchange): Promise<void> {
  const { request, response, body, isDocument, onAnswer } = asked;
  if (response.destroyed) throw new ClientGone("the client went away");
  const connection = engine.take(body === "stream" ? hasBody(request) : body.length > 0);
  const { turn } = connection;
  const isChange = request.method !== "GET" && request.method !== "HEAD";
  let isGone = false;
  const onClientGone = (): void => {
    if (response.writableFinished) return;
    isGone = true;
    if (!isChange || !connection.isAskedWhole)
      connection.destroy(new ClientGone("the client went away"), turn);
  };
  response.once("close", onClientGone);
  try {
    let head = await headOf(connection, asked);
    const isSent = connection.isAskedWhole;
    const isTold = head.status >= 300 || isDocument;
    let whole = isShort(head, isTold) ? await readWhole(connection) : null;
    const { headers } = head;
    let text = isTold ? (whole?.toString("utf8") ?? "") : "";
    // Some actions succeed in parts: their document names errors and is none.
    const isError = head.status >= 300 || /^(?:<\?xml[^>]*>)?\s*<Error>/.test(text);
    const length = headers.get("content-length");
    let answer: Answer = {
      ...{ status: head.status, code: isError ? codeOfDocument(text) : null },
      bytes: length === undefined ? null : Number(length),
    };
    const revised = whole === null ? null : (asked.revise?.(answer, headers) ?? null);
    if (revised !== null) {
      text = revised.document;
      whole = Buffer.from(text);
      answer = { status: revised.status, code: revised.code, bytes: whole.length };
      head = withDocument(head, revised.status, whole.length);
    }
    await onAnswer(answer, headers, text);
    if (isGone) throw new ClientGone("the client went away");
    await send(connection, head, whole, request, response);
    // The engine did not wait for the whole request, so nothing may follow it on this connection.
    if (!isSent) connection.destroy(new Error("answered before the request was whole"), turn);
  } catch (error) {
    connection.destroy(error instanceof Error ? error : new Error(String(error)), turn);
    throw isGone ? new ClientGone("the client went away", { cause: error }) : error;
  } finally {
    response.off("close", onClientGone);
  }
}

/** The frame of a body is the connection's. One without a length is sent on in chunks, so who sends none says so. */
function headersFor({ request, signedHeaders, talk = [] }: Exchange): string[] {
  const sent = endToEnd(request.rawHeaders, signedHeaders);
  const headers = [...withoutCookies(withoutTalk(sent)), ...talk];
  const hasFrame =
    request.headers["content-length"] !== undefined ||
    request.headers["transfer-encoding"] !== undefined;
  if (!hasFrame && !["GET", "HEAD", "DELETE"].includes(request.method ?? ""))
    headers.push("Content-Length", "0");
  return headers;
}

async function headOf(connection: EngineConnection, asked: Exchange): Promise<AnswerHead> {
  const { request, response, body } = asked;
  let unproven = UNPROVEN_BYTES;
  const timer =
    body === "stream" && hasBody(request)
      ? setTimeout(() => request.socket.destroy(), UNPROVEN_MS)
      : undefined;
  const onData = (chunk: Buffer): void => {
    if (!connection.write(chunk)) request.pause();
    unproven -= chunk.length;
    if (unproven <= 0) clearTimeout(timer);
  };
  const onEnd = (): void => {
    clearTimeout(timer);
    connection.end();
    request.socket.setTimeout(ENGINE_WORKS_MS);
  };
  const flow = (): void => {
    if (body === "stream" && !hasBody(request)) {
      request.resume();
      onEnd();
    } else if (body === "stream") {
      request.socket.setTimeout(CLIENT_IDLE_MS);
      request.on("data", onData).once("end", onEnd);
      request.resume();
    } else {
      connection.write(body);
      connection.end();
    }
  };
  // The engine knows this one spelling alone; to any other it says nothing, and no client waits for long.
  const isAwaited = request.headers.expect === "100-continue" && body === "stream";
  if (request.headers.expect !== undefined && !isAwaited && body === "stream")
    response.writeContinue();
  const answered = connection.ask({
    method: request.method ?? "GET",
    target: request.url ?? "/",
    rawHeaders: headersFor(asked),
    onContinue: () => {
      if (!isAwaited) return;
      response.writeContinue();
      flow();
    },
    onDrain: () => request.resume(),
  });
  if (!isAwaited) flow();
  const head = await answered.finally(() => clearTimeout(timer));
  // What is left of a body that the engine did not wait for is drained by whoever answers.
  if (!connection.isAskedWhole) {
    request.off("data", onData).off("end", onEnd);
    request.pause();
  }
  return head;
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/** @param isTold whether the body is a document that says how it went: those are short in any frame */
function isShort({ frame }: AnswerHead, isTold: boolean): boolean {
  if (frame.kind === "length") return frame.bytes <= (isTold ? DOCUMENT_BYTES : SHORT_BYTES);
  return frame.kind === "none" || (isTold && frame.kind === "chunked");
}

async function readWhole(connection: EngineConnection): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  await connection.pass((piece, done) => {
    pieces.push(Buffer.from(piece));
    bytes += piece.length;
    done(bytes > DOCUMENT_BYTES ? new RangeError("the object store's document is too long") : null);
  });
  return Buffer.concat(pieces);
}

/** The head of an answer that another document takes the place of. */
function withDocument(head: AnswerHead, status: number, bytes: number): AnswerHead {
  const about = new Set([
    "content-type",
    "content-length",
    "content-encoding",
    "etag",
    "transfer-encoding",
  ]);
  const kept = head.rawHeaders.flatMap((name, at) =>
    at % 2 === 0 && !about.has(name.toLowerCase()) ? [name, head.rawHeaders[at + 1] ?? ""] : [],
  );
  return {
    ...{ ...head, status, reason: STATUS_CODES[status] ?? "" },
    rawHeaders: [...kept, "Content-Type", "application/xml", "Content-Length", String(bytes)],
  };
}

async function send(
  connection: EngineConnection,
  head: AnswerHead,
  whole: Buffer | null,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // The engine answered before the body had arrived: what is left of it is in nobody's way once the connection ends.
  const isEarly = !request.complete;
  const own = plainEncoding(withoutTalk(endToEnd(head.rawHeaders)));
  const headers = guarded(own, request.method ?? "");
  if (isEarly) headers.push("Connection", "close");
  request.socket.setTimeout(CLIENT_IDLE_MS);
  response.writeHead(head.status, head.reason, headers);
  if (whole === null) {
    try {
      await connection.pass(takerOf(head, response));
    } catch {
      // Half an answer is none: the client sees the connection break.
      response.destroy();
      return;
    }
  }
  const rest = whole ?? undefined;
  if (!isEarly) response.end(rest);
  else {
    if (rest !== undefined) response.write(rest);
    drain(request, () => response.end());
  }
}

/** Chooses where bytes go. Of a known length they go straight into the socket: the response's own stream would only copy and count them. */
function takerOf({ frame }: AnswerHead, response: ServerResponse): Taker {
  const { socket } = response;
  if (frame.kind !== "length" || socket === null)
    return (bytes, done) => void response.write(bytes, done);
  response.flushHeaders();
  return (bytes, done) => void socket.write(bytes, done);
}
