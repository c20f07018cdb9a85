/** What a run that made no job means for its schedule. Pure. */
import { ERROR_CATALOGUE, type ErrorCode } from "@resontech/contracts/error-catalogue";

/** `later`: what it needs is away for the moment; the run is tried again. */
export type RunFailure =
  | { kind: "skipped"; code: ErrorCode }
  | { kind: "refused"; code: ErrorCode }
  | { kind: "later" };

export function judgeFailure(error: unknown): RunFailure {
  const code = codeOf(error);
  if (code === null || ERROR_CATALOGUE[code].status >= 500) return { kind: "later" };
  return { kind: code === "workspace_busy" ? "skipped" : "refused", code };
}

/** The code of the error catalogue; null for a fault that has none. */
export function codeOf(error: unknown): ErrorCode | null {
  const code: unknown = error instanceof Error && "code" in error ? error.code : null;
  return typeof code === "string" && code in ERROR_CATALOGUE ? (code as ErrorCode) : null;
}
