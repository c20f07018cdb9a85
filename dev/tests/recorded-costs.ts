import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type FileCost, wholeOf } from "./file-costs.ts";
import type { RecordedCost } from "./schedule.ts";

/** Of a machine that has run nothing yet: as a whole run on two processors had them. */
const SHIPPED = join(import.meta.dirname, "recorded-costs.json");

/** File → what it cost when it last ran, here or, where it has not, on the machine of whoever recorded it. @param file of this machine */
export function readRecordedCosts(file: string): Map<string, RecordedCost> {
  return new Map([...read(SHIPPED), ...read(file)]);
}

export function writeRecordedCosts(
  file: string,
  before: ReadonlyMap<string, RecordedCost>,
  costs: readonly FileCost[],
): void {
  const tenths = (seconds: number): number => Math.round(seconds * 10) / 10;
  const after = new Map([
    ...before,
    ...costs.map((cost) => [cost.file, { ...cost, cpuSeconds: wholeOf(cost) }] as const),
  ]);
  const lines = [...after]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(
      ([name, { cpuSeconds, wallSeconds }]) =>
        `  ${JSON.stringify(name)}: [${tenths(cpuSeconds)}, ${tenths(wallSeconds)}]`,
    );
  writeFileSync(file, `{\n${lines.join(",\n")}\n}\n`);
}

function read(file: string): [string, RecordedCost][] {
  if (!existsSync(file)) return [];
  try {
    const costs = JSON.parse(readFileSync(file, "utf8")) as Record<string, [number, number]>;
    return Object.entries(costs).flatMap(([name, [cpuSeconds, wallSeconds]]) =>
      wallSeconds > 0 ? [[name, { cpuSeconds, wallSeconds }]] : [],
    );
  } catch {
    // Half written by a run that was killed: it only tells in which order files start.
    return [];
  }
}
