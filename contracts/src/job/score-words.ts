/** By what places are preferred, and in words. Each factor is above 0 and at most 1. Pure. */
export const SCORE_FACTORS = [
  ...["uptime", "tier", "locality", "load", "price", "framework"],
] as const;

/** @property value null: nobody knows, and it counts 1 */
export type ScoreFactor = { factor: (typeof SCORE_FACTORS)[number]; value: number | null };

/** @returns `0.735 = uptime 0.98 × load 0.75 × price 1 × framework 1; unknown, each counts 1: tier, locality` */
export function scoreWords({
  score,
  factors,
}: {
  score: number;
  factors: readonly ScoreFactor[];
}): string {
  const known = factors.flatMap(({ factor, value }) =>
    value === null ? [] : [`${factor} ${rounded(value)}`],
  );
  const unknown = factors.flatMap(({ factor, value }) => (value === null ? [factor] : []));
  const product = known.length === 0 ? "" : ` = ${known.join(" × ")}`;
  return `${rounded(score)}${product}${unknown.length === 0 ? "" : `; unknown, each counts 1: ${unknown.join(", ")}`}`;
}

/** To three places, and never to the 0 that no factor is. */
function rounded(value: number): number {
  return Math.max(0.001, Math.round(value * 1_000) / 1_000);
}
