/**
 * Questions on a Unix socket whose answers may be long: `POST /<verb>` with JSON, answered with JSON lines. Whoever can open the socket may ask; its folder
 * settles who that is. A refusal before the first line is an error of its own, one after it is the last line.
 */
import { once } from "node:events";
import { chmod, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { ErrorBody } from "./operation-error.ts";
import { readBody } from "./read-body.ts";

/** For all of a question. An answer takes what it takes. */
const ASK_MS = 10_000;
/** Whoever takes no line for so long takes none any more: an export reads much between two lines. */
const TAKE_MS = 300_000;
const LIMITS = {
  ...{ maxHeaderSize: 8_192, headersTimeout: ASK_MS, requestTimeout: ASK_MS },
  connectionsCheckingInterval: 1_000,
};
const REFUSED = 409;
const LINES_TYPE = "application/x-ndjson";

/** Whoever asked has hung up, or takes no more lines. */
export class ReceiverGoneError extends Error {
  override readonly name = "ReceiverGoneError";
  readonly code = "receiver_gone";
}

/** @property give sends a line before the last one; resolves when it was taken @throws ReceiverGoneError */
export type LineAnswer = (
  request: unknown,
  give: (line: object) => Promise<void>,
) => Promise<object>;

export type ServeLinesOptions = {
  /** Of the socket, at most 107 bytes. Its folder is there, and closed to others. */
  path: string;
  /** Of the socket. */
  mode: number;
  maxRequestBytes: number;
  maxConnections: number;
  /** Is given `{ verb, …body }`, or null for what is no JSON object or too long; resolves with the last line. */
  answer: LineAnswer;
  /** What whoever asked is told of an error. */
  errorOf: (error: unknown) => ErrorBody;
};

/** @property end lets nobody in any more; who is being answered has so many milliseconds for it */
export type LineServer = { end: (lastWordsMs: number) => Promise<void> };

export async function serveLines(options: ServeLinesOptions): Promise<LineServer> {
  const { path, mode, maxConnections } = options;
  const server = createServer(LIMITS, (request, response) => {
    void reply(request, response, options);
  });
  server.maxConnections = maxConnections;
  // What lies there is a killed one's.
  await rm(path, { force: true });
  server.listen(path);
  await once(server, "listening");
  await chmod(path, mode);
  return {
    end: async (lastWordsMs) => {
      const closed = once(server, "close");
      server.close();
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), lastWordsMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

async function reply(
  request: IncomingMessage,
  response: ServerResponse,
  { answer, errorOf, maxRequestBytes }: ServeLinesOptions,
): Promise<void> {
  response.on("error", () => {});
  try {
    const asked = questionOf(request, await readBody(request, maxRequestBytes));
    try {
      const last = await answer(asked, (line) => give(response, line));
      begin(response);
      response.end(`${JSON.stringify(last)}\n`);
    } catch (error) {
      refuse(response, errorOf(error));
    }
  } catch {
    // It broke off before it was asked: nobody waits.
    response.destroy();
  }
}

function questionOf({ method, url }: IncomingMessage, text: string | null): object | null {
  const body = text === null ? null : parsed(text);
  const verb = /^\/([a-z-]{1,64})$/.exec(url ?? "")?.[1];
  const isQuestion = method === "POST" && typeof body === "object" && !Array.isArray(body);
  return verb === undefined || !isQuestion || body === null ? null : { ...body, verb };
}

function refuse(response: ServerResponse, error: ErrorBody): void {
  if (response.headersSent) response.end(`${JSON.stringify({ error })}\n`);
  else
    response
      .writeHead(REFUSED, { "content-type": "application/json", connection: "close" })
      .end(JSON.stringify(error));
}

/** One question a connection: nobody's idle one keeps a process from ending. */
function begin(response: ServerResponse): void {
  if (!response.headersSent)
    response.writeHead(200, { "content-type": LINES_TYPE, connection: "close" });
}

async function give(response: ServerResponse, line: object): Promise<void> {
  if (response.destroyed) throw new ReceiverGoneError("the receiver has hung up");
  begin(response);
  if (response.write(`${JSON.stringify(line)}\n`)) return;
  const signal = AbortSignal.timeout(TAKE_MS);
  const gone = once(response, "close", { signal });
  gone.catch(() => {});
  try {
    await Promise.race([
      once(response, "drain", { signal }),
      gone.then(() => Promise.reject(new Error("closed"))),
    ]);
  } catch {
    response.destroy();
    throw new ReceiverGoneError("the receiver takes no more lines");
  }
}

/** Parses a line; null for what is no JSON: that is no question either. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
