import type { JobReason } from "@resontech/contracts/job-reasons";
import { type RetryClass, reasonEntry } from "./reasons.ts";

/** How often a job starts again after a fault of each class. */
export const RETRY_BUDGETS = {
  never: 0,
  infrastructure: 5,
  lease_lost: 10,
  out_of_memory: 1,
  free: Infinity,
} as const satisfies Record<RetryClass, number>;

export type RetriesSpent = { infrastructure: number; lease_lost: number; out_of_memory: number };

/**
 * Whether a job that met this fault starts again, and which budget that spends.
 * @param isOurs the coordinator itself was away: a lease that nobody could renew is not the job's loss
 */
export function evaluateRetry(
  reason: JobReason,
  spent: RetriesSpent,
  isOurs = false,
): { again: boolean; spends: keyof RetriesSpent | null } {
  const { retry } = reasonEntry(reason);
  switch (retry) {
    case "never":
      return { again: false, spends: null };
    case "free":
      return { again: true, spends: null };
    case "lease_lost":
      return isOurs
        ? { again: true, spends: null }
        : { again: spent[retry] < RETRY_BUDGETS[retry], spends: retry };
    case "infrastructure":
    case "out_of_memory":
      return { again: spent[retry] < RETRY_BUDGETS[retry], spends: retry };
  }
}
