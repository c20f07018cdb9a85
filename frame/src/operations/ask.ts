/** One question to another process of ours, on its socket. */
import { request as httpRequest, type IncomingMessage } from "node:http";
import type { Static, TSchema } from "typebox";
import { Value } from "typebox/value";
import type { Operation } from "./operation.ts";
import { ErrorBody, OperationError } from "./operation-error.ts";
import { readBody } from "./read-body.ts";

const MAX_REPLY_BYTES = 16 * 1024 ** 2;

export type AskOptions = {
  /** Milliseconds for the whole of an answer. */
  timeoutMs: number;
};

/**
 * @throws OperationError with the code of the refusal; `part_away` when nobody answers in time, or not in the operation's form: what was asked for may
 * have been done then
 */
export async function ask<Request extends TSchema, Reply extends TSchema>(
  socketPath: string,
  operation: Operation<Request, Reply>,
  request: Static<Request>,
  { timeoutMs }: AskOptions,
): Promise<Static<Reply>> {
  const { status, text } = await exchange(socketPath, operation.name, request, timeoutMs).catch(
    (cause: unknown) => {
      throw away(`${socketPath} does not answer: ${messageOf(cause)}`, cause);
    },
  );
  const value = parsed(text);
  if (status === 200 && Value.Check(operation.reply, value)) return value;
  if (status !== 200 && Value.Check(ErrorBody, value))
    throw new OperationError(value.code, value.message);
  throw away(`${socketPath} answers ${operation.name} in another form`);
}

async function exchange(
  socketPath: string,
  name: string,
  request: unknown,
  timeoutMs: number,
): Promise<{ status: number; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const body = JSON.stringify(request);
  const sent = httpRequest(
    {
      ...{ socketPath, method: "POST", path: `/${name}`, agent: false },
      headers: {
        ...{ host: "localhost", "content-type": "application/json" },
        "content-length": Buffer.byteLength(body),
      },
      signal: AbortSignal.timeout(timeoutMs),
    },
    resolve,
  );
  sent.once("error", reject);
  sent.end(body);
  const message = await promise;
  const text = await readBody(message, MAX_REPLY_BYTES);
  if (text === null) throw new Error("the answer is longer than any is");
  return { status: message.statusCode ?? 0, text };
}

function away(message: string, cause?: unknown): OperationError {
  return new OperationError("part_away", message, { cause });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
