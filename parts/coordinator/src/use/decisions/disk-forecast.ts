/** When a disk fills, by the straight line that lies nearest to what it had left. Pure. */

export type FreePoint = readonly [second: number, freeBytes: number];
export type DiskForecast = { bytesPerDay: number | null; fillsAtMs: number | null; seenS: number };

const DAY_S = 86_400;
/** A shorter past says nothing of days: an upload would. */
const LEAST_S = 3_600;
const LEAST_POINTS = 10;
/** Nobody plans for what is further off. */
const HORIZON_MS = 5 * 365 * DAY_S * 1_000;

/** @param floorBytes of the room that must be left: where less is, work is refused */
export function forecastDisk(points: readonly FreePoint[], floorBytes: number): DiskForecast {
  const [first, last] = [points[0], points.at(-1)];
  const seenS = first === undefined || last === undefined ? 0 : last[0] - first[0];
  if (last === undefined || seenS < LEAST_S || points.length < LEAST_POINTS)
    return { bytesPerDay: null, fillsAtMs: null, seenS };
  const perSecond = slopeOf(points);
  const bytesPerDay = -perSecond * DAY_S;
  const leftBytes = last[1] - floorBytes;
  if (leftBytes <= 0) return { bytesPerDay, fillsAtMs: last[0] * 1_000, seenS };
  if (perSecond >= 0) return { bytesPerDay, fillsAtMs: null, seenS };
  const inMs = (leftBytes / -perSecond) * 1_000;
  return { bytesPerDay, fillsAtMs: inMs > HORIZON_MS ? null : last[0] * 1_000 + inMs, seenS };
}

/** Least squares, bytes a second. */
function slopeOf(points: readonly FreePoint[]): number {
  const mean = (of: (point: FreePoint) => number): number =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [atMean, freeMean] = [mean(([at]) => at), mean(([, free]) => free)];
  let [together, spread] = [0, 0];
  for (const [at, free] of points) {
    together += (at - atMean) * (free - freeMean);
    spread += (at - atMean) ** 2;
  }
  return spread === 0 ? 0 : together / spread;
}
