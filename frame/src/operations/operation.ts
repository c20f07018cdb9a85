import type { Static, TSchema } from "typebox";

/** What one process asks another: the part that serves it defines it, and both sides read this. */
export type Operation<Request extends TSchema = TSchema, Reply extends TSchema = TSchema> = {
  /** Its path on the socket; a verb and its object: `send-test-alert`. */
  name: string;
  request: Request;
  reply: Reply;
  /** Codes of its refusals, beside those of {@link PROTOCOL_CODES}. */
  codes: readonly string[];
  /** Of the request's JSON. @default 32768 */
  maxRequestBytes?: number;
};

/** Codes that each operation may end with. `part_away`: nobody answers, so nothing is known of what was done. */
const PROTOCOL_CODES = [
  "part_away",
  "unknown_operation",
  "invalid_request",
  "request_too_long",
  "internal",
];

/** A code that nobody expects would lead nowhere: it is a fault of who answers. */
export function mayEndWith({ codes }: Pick<Operation, "codes">, code: string): boolean {
  return codes.includes(code) || PROTOCOL_CODES.includes(code);
}

export function defineOperation<Request extends TSchema, Reply extends TSchema>(
  operation: Operation<Request, Reply>,
): Operation<Request, Reply> {
  return operation;
}

/** An operation, and who does it. */
export type Answer = {
  operation: Operation;
  /** @throws OperationError to refuse */
  answer: (request: unknown) => Promise<unknown>;
};

/** @param answer is given a request that has the operation's form */
export function answering<Request extends TSchema, Reply extends TSchema>(
  operation: Operation<Request, Reply>,
  answer: (request: Static<Request>) => Promise<Static<Reply>>,
): Answer {
  return { operation, answer: (request) => answer(request as Static<Request>) };
}
