/** One question to another process of ours, on its socket. */
import type { Static, TSchema } from "typebox";
import { Value } from "typebox/value";
import { exchangeOnSocket } from "./exchange-on-socket.ts";
import type { Operation } from "./operation.ts";
import { ErrorBody, OperationError } from "./operation-error.ts";

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
  const { status, text } = await exchangeOnSocket(socketPath, {
    ...{ method: "POST", path: `/${operation.name}`, body: JSON.stringify(request), timeoutMs },
  }).catch((cause: unknown) => {
    throw away(`${socketPath} does not answer: ${messageOf(cause)}`, cause);
  });
  const value = parsed(text);
  if (status === 200 && Value.Check(operation.reply, value)) return value;
  if (status !== 200 && Value.Check(ErrorBody, value))
    throw new OperationError(value.code, value.message);
  throw away(`${socketPath} answers ${operation.name} in another form`);
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
