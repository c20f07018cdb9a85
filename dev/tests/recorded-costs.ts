import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type FileCost, wholeOf } from "./file-costs.ts";

/** Of a machine that has run nothing yet: the dear files, as a whole run on two processors had them. */
const SHIPPED = join(import.meta.dirname, "recorded-costs.json");

/** File → seconds of CPU when it last ran, here or, where it has not, on the machine of whoever recorded it. @param file of this machine */
export function readRecordedCosts(file: string): Map<string, number> {
  return new Map([...read(SHIPPED), ...read(file)]);
}

export function writeRecordedCosts(
  file: string,
  before: ReadonlyMap<string, number>,
  costs: readonly FileCost[],
): void {
  const after = new Map([...before, ...costs.map((cost) => [cost.file, wholeOf(cost)] as const)]);
  const rounded = [...after].map(([name, seconds]) => [name, Math.round(seconds * 10) / 10]);
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(rounded), null, 2)}\n`);
}

function read(file: string): [string, number][] {
  if (!existsSync(file)) return [];
  try {
    return Object.entries(JSON.parse(readFileSync(file, "utf8")) as Record<string, number>);
  } catch {
    // Half written by a run that was killed: it only tells in which order files start.
    return [];
  }
}
