/** Lines of their own places on one axis. Pure. */
export type Line = {
  label: string;
  /** `[at, last, min, max]` in order. */
  points: readonly (readonly [number, number, number, number])[];
};

/** One value for each place of the plot; null where there is none. */
export type CurveValues = readonly (number | null)[];
export type Curve = {
  label: string;
  values: CurveValues;
  /** Between two places it was no less and no more. */
  band?: { least: CurveValues; most: CurveValues };
  /** Curves of one thing have one colour, in all charts of a page; absent: its place in the list. */
  hue?: number;
  /** What the others shall not reach. */
  isLimit?: boolean;
};
export type Plot = { places: readonly number[]; curves: readonly Curve[] };

/** Every place that any line has, and of each line its last, least and greatest value there, or null. */
export function alignedOf(lines: readonly Line[]): Plot {
  const places = [...new Set(lines.flatMap(({ points }) => points.map(([at]) => at)))].sort(
    (a, b) => a - b,
  );
  const curves = lines.map(({ label, points }) => {
    const at = new Map(points.map((point) => [point[0], point]));
    const valuesOf = (which: 1 | 2 | 3): CurveValues =>
      places.map((place) => at.get(place)?.[which] ?? null);
    return { label, values: valuesOf(1), band: { least: valuesOf(2), most: valuesOf(3) } };
  });
  return { places, curves };
}

/** The last value that a curve has, and where; null for a curve of nothing. */
export function lastOf({ places }: Plot, { values }: Curve): { at: number; value: number } | null {
  const index = values.findLastIndex((value) => value !== null);
  return index < 0 ? null : { at: places[index]!, value: values[index]! };
}
