/** One of the nine figures: what was wanted, what was measured, and whether it is met. Null: measured by another proof, which is named. */
export type Figure = {
  goal: string;
  measured: Record<string, number | string | readonly string[]>;
  met: boolean | null;
};

export function rounded(value: number, digits = 1): number {
  return Number(value.toFixed(digits));
}
