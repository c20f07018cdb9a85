/** How much CPU a test file may use, and which files may use more, each with its reason. A file over its budget fails the run's end. */
import { type FileCost, wholeOf } from "./file-costs.ts";
import { type Tier, tierOf } from "./tier.ts";

/** Seconds of CPU. */
const BUDGETS: Readonly<Record<Tier, number>> = {
  unit: 30,
  engines: 60,
  browser: 60,
  acceptance: 60,
};

export type Exception = {
  /** Seconds of CPU that it may use. */
  cpuSeconds: number;
  reason: string;
};

/** Keep this short: each line is paid by everybody, at each change. */
export const EXCEPTIONS: Readonly<Record<string, Exception>> = {};

/** One line for each file that used more than it may. */
export function overBudget(
  costs: readonly FileCost[],
  exceptions: Readonly<Record<string, Exception>> = EXCEPTIONS,
): string[] {
  return costs.flatMap((cost) => {
    const allowed = exceptions[cost.file]?.cpuSeconds ?? BUDGETS[tierOf(cost.file)];
    return wholeOf(cost) <= allowed
      ? []
      : [
          `${cost.file} used ${wholeOf(cost).toFixed(1)} s of CPU, and ${allowed} s are its budget: make it cheaper, or state why it can't be in dev/tests/budgets.ts`,
        ];
  });
}
