import { ApiError } from "../api-error.ts";
import type { Caller } from "./caller.ts";
import { type Allowed, type Asked, decide } from "./decide.ts";
import type { Action } from "./actions.ts";

/** Decides, and goes on only where it is allowed. @throws ApiError with the refusal's code and message */
export function demand<A extends Action>(caller: Caller, action: A, asked: Asked<A>): Allowed {
  const verdict = decide(caller, action, asked);
  if (verdict.effect === "deny") throw new ApiError(verdict.code, verdict.message);
  return verdict;
}

export function isAllowed<A extends Action>(caller: Caller, action: A, asked: Asked<A>): boolean {
  return decide(caller, action, asked).effect === "allow";
}
