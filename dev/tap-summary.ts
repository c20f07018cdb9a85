/** What one raw TAP stream says: how many leaf assertions passed, were skipped or failed, and which ones failed. */
import { Parser } from "tap-parser";

export type TapFailure = {
  /** File, subtests and the assertion's own description, joined by " > ". */
  fullname: string;
  /** What tap said below it (source, wanted, found, stack), as it gives it; null when it said nothing. */
  diagnostics: unknown;
};

export type TapSummary = { passed: number; skipped: number; failures: readonly TapFailure[] };

type Point = { ok: boolean; fullname: string; skip: unknown; todo: unknown; diag: unknown };

/** A subtest that only sums up what is below it isn't counted; one that fails by itself (a time-out, say) is a failure. */
export function summarizeTap(text: string): TapSummary {
  const points = Parser.parse(text, { flat: true })
    .filter(isAssertion)
    .map(([, point]) => point);
  const skipped = points.filter((point) => point.skip !== false || point.todo !== false);
  const counted = points.filter((point) => !skipped.includes(point));
  return {
    passed: counted.filter((point) => point.ok).length,
    skipped: skipped.length,
    failures: counted.filter((point) => !point.ok).map(({ fullname, diag }) => ({ fullname, diagnostics: diag })),
  };
}

function isAssertion(event: unknown): event is ["assert", Point] {
  return Array.isArray(event) && event[0] === "assert";
}
