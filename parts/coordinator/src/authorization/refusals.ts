import type { ErrorCode } from "@resontech/contracts/error-catalogue";

/**
 * The codes that a `forbid` may have. Where more than one stands in the way the first of this list is told: what the caller can't
 * mend before what he can, and a fresh sign-in only where nothing else is missing.
 */
export const REFUSAL_CODES = [
  "role_conflict",
  "scope_missing",
  "session_only",
  "role_required",
  "class_refused",
  "own_request",
  "approval_required",
  "step_up_required",
] as const satisfies readonly ErrorCode[];
export type RefusalCode = (typeof REFUSAL_CODES)[number];

export function isRefusalCode(code: string): code is RefusalCode {
  return (REFUSAL_CODES as readonly string[]).includes(code);
}
