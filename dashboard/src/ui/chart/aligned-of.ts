/** Lines of their own places on one axis. Pure. */
export type Line = {
  label: string;
  /** `[at, last, min, max]` in order. */
  points: readonly (readonly [number, number, number, number])[];
};
export type Aligned = [number[], ...(number | null)[][]];

/** Every place that any line has, and of each line its last, least and greatest value there, or null. */
export function alignedOf(lines: readonly Line[]): Aligned {
  const places = [...new Set(lines.flatMap(({ points }) => points.map(([at]) => at)))].sort(
    (a, b) => a - b,
  );
  const values = lines.flatMap(({ points }) => {
    const at = new Map(points.map((point) => [point[0], point]));
    return ([1, 2, 3] as const).map((which) =>
      places.map((place) => at.get(place)?.[which] ?? null),
    );
  });
  return [places, ...values];
}
