/** Shapes that many routes of the HTTP API share. */
import { type Static, Type } from "typebox";
import { ERROR_CATALOGUE, type ErrorCode } from "./error-catalogue.ts";
import { closed } from "../closed.ts";

/** UTC with milliseconds. */
export const Instant = Type.String({
  description: "UTC, RFC 3339 with milliseconds",
  examples: ["2026-01-31T23:59:59.999Z"],
});

export const ErrorReply = Type.Object(
  {
    code: Type.Enum(Object.keys(ERROR_CATALOGUE) as ErrorCode[]),
    message: Type.String(),
    hint: Type.String(),
  },
  {
    ...closed,
    $id: "Error",
    description: "Every error of the control plane; docs/errors.md lists the codes.",
  },
);
export type ErrorReply = Static<typeof ErrorReply>;

/** An id of a path or a query: anything else is not found, never a database error. */
export const IdParam = Type.String({ minLength: 1, maxLength: 64, pattern: "^[A-Za-z0-9._-]+$" });
