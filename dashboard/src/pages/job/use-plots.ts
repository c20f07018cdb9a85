/** Curves of use as figures of a page. Pure. */
import type { Curve, Plot } from "../../ui/chart/aligned-of.ts";
import type { UseAnswer, UseMeasure, UseSeries } from "./use-answer.ts";

export type UseFigure = { measure: UseMeasure; title: string; unit: UseSeries["unit"]; plot: Plot };

const TITLES: readonly (readonly [UseMeasure, string])[] = [
  ["cpu", "Processor (cores)"],
  ["memory", "Memory"],
  ["disk_read", "Disk, read"],
  ["disk_write", "Disk, written"],
  ["network_in", "Network, received"],
  ["network_out", "Network, sent"],
  ["device_use", "Device use"],
  ["device_memory", "Device memory"],
  ["device_power", "Device power"],
];

/** One figure for each measure that has values, on one axis; what is of one member has one colour in all of them. */
export function figuresOfUse(answer: UseAnswer): UseFigure[] {
  const { series, fromS, stepS } = answer;
  const owners = [...new Set(series.map(({ of }) => ownerOf(of)))];
  const hasAttempts = new Set(series.map(({ of }) => of.attempt ?? 1)).size > 1;
  const count = Math.max(0, ...series.map(({ values }) => values.length));
  const places = Array.from({ length: count }, (_, at) => fromS + at * stepS);
  return TITLES.flatMap(([measure, title]) => {
    const found = series.filter((one) => one.measure === measure && hasValue(one));
    if (found.length === 0) return [];
    const curves = found.map(
      (one): Curve => ({
        label: labelOf(one, hasAttempts),
        values: one.values,
        hue: owners.indexOf(ownerOf(one.of)),
      }),
    );
    const limits = measure === "memory" ? limitsOf(series, hasAttempts) : [];
    const plot = { places, curves: [...curves, ...limits] };
    return [{ measure, title, unit: found[0]!.unit, plot }];
  });
}

/** Where all have the same, one line says so. */
function limitsOf(series: readonly UseSeries[], hasAttempts: boolean): Curve[] {
  const limits = series.filter((one) => one.measure === "memory_limit" && hasValue(one));
  const bounds = new Set(limits.flatMap(({ values }) => values.filter((value) => value !== null)));
  if (bounds.size === 1) {
    const values = limits[0]!.values.map(
      (_, at) => limits.find((one) => one.values[at] !== null)?.values[at] ?? null,
    );
    return [{ label: limits.length === 1 ? "limit" : "limit of each", values, isLimit: true }];
  }
  return limits.map((one) => ({
    label: `limit of ${labelOf(one, hasAttempts)}`,
    values: one.values,
    isLimit: true,
  }));
}

function hasValue({ values }: UseSeries): boolean {
  return values.some((value) => value !== null);
}

/** Whose a curve is, whatever it measures. */
function ownerOf({ member, site, attempt, node }: UseSeries["of"]): string {
  return member ?? `${site ?? node ?? ""} ${attempt ?? ""}`;
}

function labelOf({ measure, of }: UseSeries, hasAttempts: boolean): string {
  const { member, site, attempt, node, worker, disk } = of;
  const which = measure.startsWith("device_") ? worker : disk;
  const on = which === undefined ? "" : ` on ${which}`;
  const tried = hasAttempts && attempt !== undefined ? `, attempt ${attempt}` : "";
  return `${site ?? member ?? node ?? "all"}${on}${tried}`;
}
