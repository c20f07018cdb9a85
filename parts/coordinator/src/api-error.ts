import {
  ERROR_CATALOGUE,
  type ErrorBody,
  type ErrorCode,
} from "@resontech/contracts/error-catalogue";

/**
 * A request that can't be done, told to whoever asked: over HTTP with the catalogue's status, over the control socket as it is.
 * `message` is shown; it says what was found and where, never what the inside looks like.
 */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  get status(): number {
    return ERROR_CATALOGUE[this.code].status;
  }
}

export function errorBody(code: ErrorCode, message: string): ErrorBody {
  return { code, message, hint: ERROR_CATALOGUE[code].hint };
}
