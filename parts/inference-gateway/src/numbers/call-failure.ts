/** Pure: by which word a call that did not end well is counted. */
import type { CallOutcome } from "../records/call-line.ts";

/** @param status of the answer; null where none began @returns null for a call that went well */
export function callFailure(outcome: CallOutcome, status: number | null): string | null {
  if (outcome !== "answered") return outcome;
  return status !== null && status < 400 ? null : String(status ?? 500);
}
