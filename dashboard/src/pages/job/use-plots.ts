/** Curves of use as figures of a page. Pure. */
import type { UseMeasure, UseReply } from "@resontech/contracts/http-use";
import type { Curve, Plot } from "../../ui/chart/aligned-of.ts";
import type { Unit } from "../../ui/chart/units.ts";

type UseSeries = UseReply["series"][number];
type UseFigure = { measure: UseMeasure; title: string; unit: Unit; plot: Plot };

/** In the order of the page: what is looked for first, and what bounds it. */
const FIGURES: readonly (readonly [measure: UseMeasure, title: string, limit?: UseMeasure])[] = [
  ["device_use", "Device use"],
  ["device_memory", "Device memory"],
  ["cpu", "Processor (cores)", "cpu_limit"],
  ["memory", "Memory", "memory_limit"],
  ["disk", "Disk space", "disk_limit"],
  ["disk_read", "Disk, read"],
  ["disk_write", "Disk, written"],
  ["network_in", "Network, received"],
  ["network_out", "Network, sent"],
  ["devices", "Devices in use", "devices_limit"],
  ["workers", "Workers in use", "workers_limit"],
  ["device_power", "Device power"],
  ["device_temperature", "Device temperature"],
];

/** One figure for each measure that has values, on one axis; what is of one member has one colour in all of them. */
export function figuresOfUse({ series, fromS, stepS }: UseReply): UseFigure[] {
  const owners = [...new Set(series.map(({ of }) => ownerOf(of)))];
  const hasAttempts = new Set(series.map(({ of }) => of.attempt ?? "1")).size > 1;
  const count = Math.max(0, ...series.map(({ values }) => values.length));
  const places = Array.from({ length: count }, (_, at) => fromS + at * stepS);
  return FIGURES.flatMap(([measure, title, limit]) => {
    const found = series.filter((one) => one.measure === measure && hasValue(one));
    if (found.length === 0) return [];
    const curves = found.map(
      (one): Curve => ({
        label: labelOf(one, hasAttempts),
        values: one.values,
        hue: owners.indexOf(ownerOf(one.of)),
      }),
    );
    const limits = limit === undefined ? [] : limitsOf(series, limit, hasAttempts);
    const plot = { places, curves: [...curves, ...limits] };
    return [{ measure, title, unit: found[0]!.unit, plot }];
  });
}

/** Where all have the same, one line says so. */
function limitsOf(
  series: readonly UseSeries[],
  measure: UseMeasure,
  hasAttempts: boolean,
): Curve[] {
  const limits = series.filter((one) => one.measure === measure && hasValue(one));
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
