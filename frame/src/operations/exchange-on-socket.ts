/** One request and its answer over HTTP on a Unix socket, on a connection of its own. */
import { request as httpRequest, type IncomingMessage } from "node:http";
import { readBody } from "./read-body.ts";

const MAX_ANSWER_BYTES = 16 * 1024 ** 2;

export type ExchangedRequest = {
  method: string;
  path: string;
  headers?: Readonly<Record<string, string>>;
  /** JSON; null where there is none. */
  body: string | null;
  /** Milliseconds for the whole of an answer. */
  timeoutMs: number;
};

/** @throws what the socket says; a longer answer than any is; `AbortError` after the time */
export async function exchangeOnSocket(
  socketPath: string,
  { method, path, headers, body, timeoutMs }: ExchangedRequest,
): Promise<{ status: number; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = httpRequest(
    {
      ...{ socketPath, method, path, agent: false },
      headers: {
        host: "localhost",
        ...headers,
        ...(body === null
          ? {}
          : {
              "content-type": "application/json",
              "content-length": Buffer.byteLength(body),
            }),
      },
      signal: AbortSignal.timeout(timeoutMs),
    },
    resolve,
  );
  sent.once("error", reject);
  if (body === null) sent.end();
  else sent.end(body);
  const message = await promise;
  const text = await readBody(message, MAX_ANSWER_BYTES);
  if (text === null) throw new Error("the answer is longer than any is");
  return { status: message.statusCode ?? 0, text };
}
