/** What one raw TAP stream says: how many leaf assertions passed, were skipped or failed, and which ones failed. */
import { Parser, type Result } from "tap-parser";

export type TapFailure = {
  /** File, subtests and the assertion's own description, joined by " > ". */
  fullname: string;
  /** What tap said below it (source, wanted, found, stack), as it gives it; null when it said nothing. */
  diagnostics: unknown;
};

export type TapSummary = { passed: number; skipped: number; failures: readonly TapFailure[] };

/**
 * A subtest that only sums up what is below it isn't counted; one that fails by itself (a time-out, say) is a failure. No directive excuses what
 * failed, and a test that is yet to be written counts as one that failed.
 */
export function summarizeTap(text: string): TapSummary {
  const results = Parser.parse(text, { flat: true })
    .filter(isAssertion)
    .map(([, result]) => result);
  const failed = results.filter(({ ok, todo }) => !ok || todo !== false);
  const good = results.filter((result) => !failed.includes(result));
  const skipped = good.filter(({ skip }) => skip !== false).length;
  return {
    passed: good.length - skipped,
    skipped,
    failures: failed.map((result) => ({ fullname: nameOf(result), diagnostics: result.diag })),
  };
}

/** A file that ran out of time is named below the line alone: `timeout!` by itself tells nobody which. */
function nameOf({ fullname, diag }: Result): string {
  const expired: unknown = (diag as { expired?: unknown } | null)?.expired;
  return fullname === "timeout!" && typeof expired === "string"
    ? `${expired} > ${fullname}`
    : fullname;
}

function isAssertion(event: unknown): event is ["assert", Result] {
  return Array.isArray(event) && event[0] === "assert";
}
