/** Errors as the OpenAI API has them: `{error: {message, type, param, code}}`. */

const MAX_MESSAGE_CHARS = 1_000;

export type OpenAiErrorType =
  | "invalid_request_error"
  | "authentication_error"
  | "rate_limit_error"
  | "server_error";

export type OpenAiRefusal = {
  status: number;
  type: OpenAiErrorType;
  code: string;
  message: string;
  /** Which field of the body is meant. */
  param?: string;
  retryAfterS?: number;
  /** The engine may have begun: a client of this API would ask again by itself. */
  isBegun?: boolean;
};

export class OpenAiError extends Error {
  readonly refusal: OpenAiRefusal;

  constructor(refusal: OpenAiRefusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/** A fault of the request itself. */
export function invalidRequest(code: string, message: string, param?: string): OpenAiError {
  return new OpenAiError({
    ...{ status: 400, type: "invalid_request_error", code, message },
    ...(param === undefined ? {} : { param }),
  });
}

export function errorBody({ type, code, message, param }: OpenAiRefusal): string {
  const text = message.slice(0, MAX_MESSAGE_CHARS);
  return JSON.stringify({ error: { message: text, type, param: param ?? null, code } });
}

export function errorHeaders({
  retryAfterS,
  isBegun,
}: OpenAiRefusal): Readonly<Record<string, string>> {
  return {
    "content-type": "application/json",
    ...(retryAfterS === undefined ? {} : { "retry-after": String(retryAfterS) }),
    ...(isBegun === true ? { "x-should-retry": "false" } : {}),
  };
}
