/** The value below which `share` (0 to 1) of the values lie; NaN of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Median, and the smallest and greatest value beside it, each with `digits` decimals. */
export function spread(
  values: readonly number[],
  digits = 2,
): { median: number; min: number; max: number } {
  const round = (value: number): number => Number(value.toFixed(digits));
  return {
    median: round(quantile(values, 0.5)),
    min: round(Math.min(...values)),
    max: round(Math.max(...values)),
  };
}
