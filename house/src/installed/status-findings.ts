/** What `appliance status` finds, as lines of `severity code: what`. */
import { setTimeout as sleep } from "node:timers/promises";
import type { LocalAppliance } from "./local-appliance.ts";

/** From when there is room again until status finds no fault. */
const CLEAR_LIMIT_MS = 60_000;

export function readFindings(appliance: LocalAppliance): string[] {
  return appliance
    .status()
    .findings.map(({ severity, code, what }) => `${severity} ${code}: ${what}`);
}

/** @returns the faults that do not go within a minute */
export async function untilClear(appliance: LocalAppliance): Promise<string[]> {
  const faults = (): string[] =>
    readFindings(appliance).filter((line) => line.startsWith("fault "));
  for (const from = Date.now(); Date.now() - from < CLEAR_LIMIT_MS && faults().length > 0; )
    await sleep(1_000);
  return faults();
}
