import { type MemberUses, USE_COLUMNS, type UseColumn } from "@resontech/contracts/agent-protocol";
import type { RunUsage } from "./run-usage.ts";

const KIB = 1024;
const MIB = 1024 ** 2;

/** Which figure each column is of, and its unit there. */
const FIGURES: Readonly<Record<UseColumn, readonly [keyof RunUsage, number]>> = {
  cpuMs: ["cpuMs", 1],
  memoryKib: ["memoryBytes", KIB],
  memoryPeakKib: ["memoryPeakBytes", KIB],
  memoryLimitMib: ["memoryLimitBytes", MIB],
  diskReadKib: ["diskReadBytes", KIB],
  diskWrittenKib: ["diskWrittenBytes", KIB],
  networkReceivedKib: ["networkReceivedBytes", KIB],
  networkSentKib: ["networkSentBytes", KIB],
};

/**
 * As a beat tells it. Pure.
 * @param usages by the member's place in the beat's list of what is held
 */
export function memberColumns(usages: ReadonlyMap<number, RunUsage>): MemberUses {
  const columns: Partial<Record<UseColumn, (number | null)[]>> = {};
  for (const column of USE_COLUMNS) {
    const [figure, unit] = FIGURES[column];
    const values = [...usages.values()].map((usage) => {
      const value = usage[figure];
      return value === undefined ? null : Math.round(value / unit);
    });
    if (values.some((value) => value !== null)) columns[column] = values;
  }
  return { held: [...usages.keys()], ...columns };
}
