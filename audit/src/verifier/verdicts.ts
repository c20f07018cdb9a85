/** The six things that are judged, each for itself, and the exit code that sums them up. */

export const VERDICTS = ["SIGNATURE", "INTEGRITY", "APPEND-ONLY", "WITNESSED", "COMPLETENESS", "DISCLOSURES"] as const;
export type VerdictName = (typeof VERDICTS)[number];

export type Verdict = {
  verdict: "PASS" | "FAIL" | "NOT CHECKED" | "SELF-ASSERTED";
  reason: string;
  /** First leaf concerned. */
  index?: number;
};
export type Verdicts = Record<VerdictName, Verdict>;

export const EXIT_REFUSED = 64;
export const EXIT_NOT_CHECKED = 65;

/**
 * 1…63: the sum of 1, 2, 4, 8, 16, 32 for each verdict that FAILs, in the order of {@link VERDICTS}. 64: the input was refused.
 * 65: nothing failed, but a verdict is SELF-ASSERTED, or one that is required was not checked. 0: everything required passed.
 */
export function exitCode(verdicts: Verdicts, refused: boolean, required: readonly VerdictName[]): number {
  if (refused) return EXIT_REFUSED;
  const failures = VERDICTS.reduce((mask, name, bit) => (verdicts[name].verdict === "FAIL" ? mask | (1 << bit) : mask), 0);
  if (failures !== 0) return failures;
  const isOpen =
    VERDICTS.some((name) => verdicts[name].verdict === "SELF-ASSERTED") ||
    required.some((name) => verdicts[name].verdict !== "PASS");
  return isOpen ? EXIT_NOT_CHECKED : 0;
}

const LATER = "part of a later release of this verifier; this release does not judge it";

export function notCheckedYet(): Verdicts {
  const later: Verdict = { verdict: "NOT CHECKED", reason: LATER };
  return {
    SIGNATURE: { verdict: "NOT CHECKED", reason: "the input was refused before" },
    INTEGRITY: { verdict: "NOT CHECKED", reason: "the input was refused before" },
    "APPEND-ONLY": later,
    WITNESSED: later,
    COMPLETENESS: later,
    DISCLOSURES: later,
  };
}
