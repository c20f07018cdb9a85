import {
  USE_MEASURES,
  USE_UNITS,
  type UseMeasure,
  type UseReply,
} from "@resontech/contracts/http-use";
import { placesOf, type TimeAxis } from "./time-axis.ts";
import { MEASURE_LABEL } from "./use-queries.ts";

/** As Prometheus tells it: seconds, and a number as text. */
export type RangeSeries = {
  metric: Readonly<Record<string, string>>;
  values: readonly (readonly [number, string])[];
};
/** More digits of a rate nobody draws, and they would be most of an answer. */
const DIGITS = 6;

type Series = UseReply["series"][number];

/** Labels that tell curves apart, by their names in the answer. */
const LABELS: readonly (readonly [keyof Series["of"], string])[] = [
  ...(["member", "site", "attempt", "node", "worker"] as const).map(
    (name) => [name, name] as const,
  ),
  ["disk", "holds"],
];

/** Curves on one axis, in the order of the measures; where nothing was told stands null. Pure. */
export function useSeries(axis: TimeAxis, told: readonly RangeSeries[]): Series[] {
  return told
    .flatMap(({ metric, values }): Series[] => {
      const measure = metric[MEASURE_LABEL];
      if (!isMeasure(measure)) return [];
      return [
        { measure, unit: USE_UNITS[measure], of: ofLabels(metric), values: onAxis(axis, values) },
      ];
    })
    .toSorted(
      (a, b) =>
        USE_MEASURES.indexOf(a.measure) - USE_MEASURES.indexOf(b.measure) || order(a.of, b.of),
    );
}

function isMeasure(name: string | undefined): name is UseMeasure {
  return name !== undefined && Object.hasOwn(USE_UNITS, name);
}

function ofLabels(metric: RangeSeries["metric"]): Series["of"] {
  return Object.fromEntries(
    LABELS.flatMap(([name, label]) => {
      const value = metric[label];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function onAxis(axis: TimeAxis, values: RangeSeries["values"]): (number | null)[] {
  const placed = Array.from<number | null>({ length: placesOf(axis) }).fill(null);
  for (const [second, text] of values) {
    const place = Math.round((second - axis.fromS) / axis.stepS);
    const value = Number(text);
    if (place >= 0 && place < placed.length && Number.isFinite(value))
      placed[place] = Number.isInteger(value) ? value : Number(value.toPrecision(DIGITS));
  }
  return placed;
}

/** Sites by number: site-2 before site-10. */
function order(a: Series["of"], b: Series["of"]): number {
  const textOf = (of: Series["of"]): string =>
    LABELS.map(([name]) => (name === "member" ? "" : (of[name] ?? ""))).join(" ");
  return textOf(a).localeCompare(textOf(b), "en", { numeric: true });
}
