/** What a job used, in three figures. Pure. */
import type { UseMeasure, UseReply } from "@resontech/contracts/http-use";
import { inUnit } from "../../ui/chart/units.ts";

type UseRow = { name: string; say: (use: UseReply) => string };

export const USE_ROWS: readonly UseRow[] = [
  { name: "Processor, mean of a member", say: (use) => mean(use, "cpu") },
  { name: "Memory, at most of a member", say: (use) => most(use, "memory") },
  { name: "Device use, mean", say: (use) => mean(use, "device_use") },
  { name: "Device memory, at most", say: (use) => most(use, "device_memory") },
];

function mean(use: UseReply, measure: UseMeasure): string {
  const { values, unit } = valuesOf(use, measure);
  if (unit === null) return "";
  return inUnit(unit, values.reduce((sum, one) => sum + one, 0) / values.length);
}

function most(use: UseReply, measure: UseMeasure): string {
  const { values, unit } = valuesOf(use, measure);
  return unit === null
    ? ""
    : inUnit(
        unit,
        values.reduce((a, b) => Math.max(a, b)),
      );
}

function valuesOf({ series }: UseReply, measure: UseMeasure) {
  const found = series.filter((one) => one.measure === measure);
  const values = found.flatMap((one) => one.values.filter((value) => value !== null));
  return { values, unit: values.length === 0 ? null : found[0]!.unit };
}
