/** The one form of an error between processes: `{ "code", "message" }`. The caller knows what a person can do about it. */
import { Type, type Static } from "typebox";

/** The body of every answer whose status is no success. */
export const ErrorBody = Type.Object({
  code: Type.String({ minLength: 1, maxLength: 64 }),
  message: Type.String({ maxLength: 4_096 }),
});
export type ErrorBody = Static<typeof ErrorBody>;

/** The operation was refused, and nothing was done; or, as `part_away`, nobody answered. */
export class OperationError extends Error {
  override readonly name = "OperationError";
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
