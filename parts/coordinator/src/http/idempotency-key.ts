import { ApiError } from "../api-error.ts";

/** The key of the header; null where none was sent. @throws ApiError idempotency_key_invalid */
export function idempotencyKey(header: string | undefined): string | null {
  if (header === undefined) return null;
  if (!/^[A-Za-z0-9._-]{1,128}$/.test(header))
    throw new ApiError("idempotency_key_invalid", "the Idempotency-Key is not valid");
  return header;
}
