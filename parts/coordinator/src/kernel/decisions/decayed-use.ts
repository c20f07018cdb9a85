/** What projects held on average, the newest hours most: each hour counts half of the one that came a day later. Pure. */
import type { Amounts } from "./shares.ts";

const HALF_LIFE_MS = 24 * 3_600_000;
/** What ended before that counts less than a hundredth. */
export const WINDOW_MS = 7 * HALF_LIFE_MS;

/** One worker in one hand. @property until null while it is held; times of the kernel's clock, in milliseconds */
export type Holding = { project: string; model: string; from: number; until: number | null };

/** @returns by project, workers by model: one that was always held counts 1 */
export function averageHeld(holdings: Iterable<Holding>, now: number): Map<string, Amounts> {
  const weightOf = (time: number) => 2 ** -(Math.max(0, now - time) / HALF_LIFE_MS);
  const used = new Map<string, Record<string, number>>();
  for (const { project, model, from, until } of holdings) {
    const amounts = used.get(project) ?? {};
    amounts[model] = (amounts[model] ?? 0) + weightOf(until ?? now) - weightOf(from);
    used.set(project, amounts);
  }
  return used;
}
