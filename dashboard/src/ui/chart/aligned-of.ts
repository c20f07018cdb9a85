/** Lines of their own places on one axis. Pure. */
export type Line = {
  label: string;
  /** `[at, last, min, max]` in order. */
  points: readonly (readonly [number, number, number, number])[];
};
export type Aligned = [number[], ...(number | null)[][]];

/** Every place that any line has, and each line's value there or null. */
export function alignedOf(lines: readonly Line[]): Aligned {
  const places = [...new Set(lines.flatMap(({ points }) => points.map(([at]) => at)))].sort(
    (a, b) => a - b,
  );
  const values = lines.map(({ points }) => {
    const at = new Map(points.map(([place, last]) => [place, last]));
    return places.map((place) => at.get(place) ?? null);
  });
  return [places, ...values];
}
