import t from "tap";
import { forecastDisk, type FreePoint } from "../../../src/use/decisions/disk-forecast.ts";

const GIB = 1024 ** 3;
const HOUR_S = 3_600;
/** One look an hour. @param perHour bytes that go */
const falling = (hours: number, from: number, perHour: number): FreePoint[] =>
  Array.from({ length: hours }, (_, hour) => [hour * HOUR_S, from - hour * perHour]);

t.test("a disk that loses a GiB an hour fills when that many hours are over", async (t) => {
  const points = falling(24, 100 * GIB, GIB);
  const { bytesPerDay, fillsAtMs, seenS } = forecastDisk(points, 0);
  t.equal(Math.round((bytesPerDay ?? 0) / GIB), 24);
  t.equal(Math.round((fillsAtMs ?? 0) / 1_000 / HOUR_S), 100);
  t.equal(seenS, 23 * HOUR_S);
});

t.test("where work is refused earlier, that is when it fills", async (t) => {
  const { fillsAtMs } = forecastDisk(falling(24, 100 * GIB, GIB), 40 * GIB);
  t.equal(Math.round((fillsAtMs ?? 0) / 1_000 / HOUR_S), 60);
});

t.test("what is full already is told as of the last look", async (t) => {
  t.equal(forecastDisk(falling(24, 100 * GIB, GIB), 90 * GIB).fillsAtMs, 23 * HOUR_S * 1_000);
});

t.test("room that comes back, or goes too slowly, has no end", async (t) => {
  t.match(forecastDisk(falling(24, GIB, -GIB), 0), { bytesPerDay: -24 * GIB, fillsAtMs: null });
  t.equal(forecastDisk(falling(24, 1_000 * GIB, 1_024), 0).fillsAtMs, null);
  t.equal(forecastDisk(falling(24, GIB, 0), 0).fillsAtMs, null);
});

t.test("a past that is too short says nothing, in place of a guess", async (t) => {
  const short: FreePoint[] = Array.from({ length: 20 }, (_, at) => [at * 15, GIB - at * 1e6]);
  t.match(forecastDisk(short, 0), { bytesPerDay: null, fillsAtMs: null, seenS: 285 });
  t.match(forecastDisk([], 0), { bytesPerDay: null, fillsAtMs: null, seenS: 0 });
  t.equal(forecastDisk(falling(3, GIB, 1e6), 0).bytesPerDay, null, "three looks are no line");
});
