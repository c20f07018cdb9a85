/** The six things that are judged, each for itself, and the exit code that sums them up. */

export const VERDICTS = [
  "SIGNATURE",
  "INTEGRITY",
  "APPEND-ONLY",
  "WITNESSED",
  "COMPLETENESS",
  "DISCLOSURES",
] as const;
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

export const pass = (reason: string): Verdict => ({ verdict: "PASS", reason });
export const fail = (index: number, reason: string): Verdict => ({
  verdict: "FAIL",
  reason,
  index,
});
export const notChecked = (reason: string): Verdict => ({ verdict: "NOT CHECKED", reason });

/**
 * 1…63: the sum of 1, 2, 4, 8, 16, 32 for each verdict that FAILs, in the order of {@link VERDICTS}. 64: the input was refused.
 * 65: nothing failed, but a verdict is SELF-ASSERTED, or one that is required was not checked, or the auditor gave something with which nothing in the
 * log can be compared: a nonce, a release; or calls were given that could not be judged. 0: everything required passed.
 * @param calls of an export of model calls: they open what an entry says, so what is wrong of them counts with DISCLOSURES
 */
export function exitCode(
  verdicts: Verdicts,
  refused: boolean,
  required: readonly VerdictName[],
  lacksCounterpart: boolean = false,
  calls?: Verdict,
): number {
  if (refused) return EXIT_REFUSED;
  const hasFailed = (name: VerdictName): boolean =>
    verdicts[name].verdict === "FAIL" || (name === "DISCLOSURES" && calls?.verdict === "FAIL");
  const failures = VERDICTS.reduce(
    (mask, name, bit) => (hasFailed(name) ? mask | (1 << bit) : mask),
    0,
  );
  if (failures !== 0) return failures;
  const isOpen =
    lacksCounterpart ||
    calls?.verdict === "NOT CHECKED" ||
    VERDICTS.some((name) => verdicts[name].verdict === "SELF-ASSERTED") ||
    required.some((name) => verdicts[name].verdict !== "PASS");
  return isOpen ? EXIT_NOT_CHECKED : 0;
}

export function nothingChecked(reason: string): Verdicts {
  return Object.fromEntries(VERDICTS.map((name) => [name, notChecked(reason)])) as Verdicts;
}
