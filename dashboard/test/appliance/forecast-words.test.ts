import t from "tap";
import {
  firstToFill,
  type Forecast,
  forecastWords,
} from "../../src/pages/appliance/forecast-words.ts";

const GIB = 1024 ** 3;
const NOW = Date.UTC(2026, 10, 30);
const forecast = (change: Partial<Forecast> = {}): Forecast => ({
  ...{ holds: "logs", bytesPerDay: GIB, fillsAt: "2026-12-10T00:00:00.000Z", seenS: 86_400 },
  ...change,
});

t.test("a disk that fills is told with when, and by what", async (t) => {
  t.equal(
    forecastWords(forecast(), NOW),
    "Fills in 10 d, on 2026-12-10, if 1.0 GiB a day go on, as in the last 1 d.",
  );
  t.equal(forecastWords(forecast({ fillsAt: "2026-11-29T00:00:00.000Z" }), NOW), "It is full.");
});

t.test(
  "a disk that does not fill is told so, and one of which too little is known never",
  async (t) => {
    t.match(forecastWords(forecast({ fillsAt: null }), NOW), /^Does not fill within five years/);
    t.match(
      forecastWords(forecast({ fillsAt: null, bytesPerDay: -GIB }), NOW),
      /^Room comes back: 1\.0 GiB/,
    );
    t.match(
      forecastWords(forecast({ fillsAt: null, bytesPerDay: null }), NOW),
      /^Too little is known/,
    );
    const noise = forecast({ bytesPerDay: 1_000 });
    t.match(forecastWords(noise, NOW), /^Does not fill/, "some bytes a day are noise");
  },
);

t.test("the first to fill is the one with the nearest day", async (t) => {
  const objects = forecast({ holds: "objects", fillsAt: "2026-12-01T00:00:00.000Z" });
  t.equal(firstToFill([forecast(), objects], NOW)?.holds, "objects");
  t.equal(firstToFill([forecast({ fillsAt: null }), forecast({ bytesPerDay: 1 })], NOW), null);
  const full = forecast({
    holds: "full",
    bytesPerDay: 0,
    fillsAt: new Date(NOW - 1).toISOString(),
  });
  t.equal(firstToFill([objects, full], NOW)?.holds, "full", "a full disk need not move");
});
