/** Which time a chart shows. Pure. */
export const RANGES = ["15 min", "1 h", "6 h", "24 h", "All"] as const;
export type Range = (typeof RANGES)[number];

const MINUTE_MS = 60_000;
const LENGTHS: Record<Range, number> = {
  "15 min": 15 * MINUTE_MS,
  "1 h": 60 * MINUTE_MS,
  "6 h": 360 * MINUTE_MS,
  "24 h": 1_440 * MINUTE_MS,
  All: Number.POSITIVE_INFINITY,
};
/** A chart of seconds has nothing to show. */
const LEAST_MS = MINUTE_MS;

/** The last of the time that there is. @param from when it began, Unix milliseconds @param to when it ended, or now */
export function spanOf(range: Range, from: number, to: number): { from: number; to: number } {
  const end = Math.max(to, from + LEAST_MS);
  return { from: Math.max(from, end - LENGTHS[range]), to: end };
}

/** Ranges that show less than all there is, and all. */
export function rangesFor(from: number, to: number): Range[] {
  return RANGES.filter((range) => range === "All" || LENGTHS[range] < to - from);
}

export type Zoom = { min: number; max: number };

/** By key: nearer and farther around the middle, and to the sides. @returns null: all again */
export function zoomByKey(key: string, now: Zoom, all: Zoom): Zoom | null | undefined {
  const width = now.max - now.min;
  const middle = (now.min + now.max) / 2;
  switch (key) {
    case "+":
      return within({ min: middle - width / 4, max: middle + width / 4 }, all);
    case "-":
      return width * 2 >= all.max - all.min
        ? null
        : within({ min: middle - width, max: middle + width }, all);
    case "ArrowLeft":
      return within({ min: now.min - width / 4, max: now.max - width / 4 }, all);
    case "ArrowRight":
      return within({ min: now.min + width / 4, max: now.max + width / 4 }, all);
    case "Escape":
      return null;
    default:
      return undefined;
  }
}

/** As wide as it is, moved to where there is something. */
function within({ min, max }: Zoom, all: Zoom): Zoom {
  const width = Math.min(max - min, all.max - all.min);
  const from = Math.min(Math.max(min, all.min), all.max - width);
  return { min: from, max: from + width };
}
