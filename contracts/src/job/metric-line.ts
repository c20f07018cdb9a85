/** What a job prints as a metric: one JSON object, of which the numbers are points of curves. Pure. */

/** What a job may call the place of a point, nearest first. */
const AXES = ["step", "epoch", "round"] as const;
const MAX_NAME = 64;

/** @property place null where the job named none: then it is told by time */
export type MetricLine = {
  axis: (typeof AXES)[number] | "seconds";
  place: number | null;
  values: [name: string, value: number][];
};

/** Reads the numbers of a line; there are none where it is no such JSON. */
export function metricLine(text: string): MetricLine {
  const numbers = numbersOf(text);
  const axis = AXES.find((name) => numbers.has(name));
  return {
    axis: axis ?? "seconds",
    place: axis === undefined ? null : numbers.get(axis)!,
    values: [...numbers].filter(([name]) => !AXES.some((one) => one === name)),
  };
}

function numbersOf(text: string): Map<string, number> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return new Map();
  }
  if (typeof parsed !== "object" || parsed === null) return new Map();
  return new Map(
    Object.entries(parsed).filter(
      (entry): entry is [string, number] =>
        entry[0].length <= MAX_NAME && typeof entry[1] === "number" && Number.isFinite(entry[1]),
    ),
  );
}
