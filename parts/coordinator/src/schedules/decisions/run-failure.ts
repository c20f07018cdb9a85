/** What a run that made no job means for its schedule. Pure. */
import { ERROR_CATALOGUE, type ErrorCode } from "@resontech/contracts/error-catalogue";

/** @property isPassing what the run needs may be away for the moment alone: it is tried again */
type RunFailure = {
  outcome: "skipped" | "refused";
  code: ErrorCode;
  isPassing: boolean;
};

export function judgeFailure(error: unknown): RunFailure {
  const code = codeOf(error) ?? "internal_error";
  return {
    outcome: code === "workspace_busy" ? "skipped" : "refused",
    code,
    isPassing: ERROR_CATALOGUE[code].status >= 500,
  };
}

/** The code of the error catalogue; null for a fault that has none. */
export function codeOf(error: unknown): ErrorCode | null {
  const code: unknown = error instanceof Error && "code" in error ? error.code : null;
  return typeof code === "string" && code in ERROR_CATALOGUE ? (code as ErrorCode) : null;
}
