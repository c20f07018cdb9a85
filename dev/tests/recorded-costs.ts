import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type FileCost, wholeOf } from "./file-costs.ts";
import type { RecordedCost } from "./schedule.ts";

/** Of a machine that has run nothing yet: as a whole run on two processors had them. */
const SHIPPED = join(import.meta.dirname, "recorded-costs.json");

/** So much of the load that was seen before is believed at least. */
const BELIEVED = 0.95;

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
    ...costs.map((cost) => [cost.file, asQuiet(cost, before.get(cost.file))] as const),
  ]);
  const lines = [...after]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(
      ([name, { cpuSeconds, wallSeconds }]) =>
        `  ${JSON.stringify(name)}: [${tenths(cpuSeconds)}, ${tenths(wallSeconds)}]`,
    );
  writeFileSync(file, `{\n${lines.join(",\n")}\n}\n`);
}

/** Beside others a file takes longer, and seems to load the machine less: were that believed, more would run at once each time. */
function asQuiet(cost: FileCost, before: RecordedCost | undefined): RecordedCost {
  const cpuSeconds = wholeOf(cost);
  const load = before === undefined ? 0 : BELIEVED * (before.cpuSeconds / before.wallSeconds);
  const wallSeconds = load === 0 ? cost.wallSeconds : Math.min(cost.wallSeconds, cpuSeconds / load);
  return { cpuSeconds, wallSeconds };
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
