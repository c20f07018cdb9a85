import t from "tap";
import { placesOf, timeAxis } from "../../../src/use/decisions/time-axis.ts";

t.test("an axis has as many points as were asked for, or fewer", async (t) => {
  for (const points of [2, 3, 10, 500, 1_000])
    for (const spanS of [0, 1, 14, 15, 16, 3_600, 86_399, 86_400, 15 * 86_400]) {
      const axis = timeAxis(1_000_500, 1_000_500 + spanS * 1_000, points);
      const places = placesOf(axis);
      t.ok(Number.isInteger(places) && places >= 1 && places <= points, `${points} ${spanS}`);
      t.ok(axis.fromS >= 1_000 && axis.fromS < 1_000 + axis.stepS && axis.stepS >= 15);
      t.equal(axis.toS, 1_000 + spanS, "the newest value is never left out");
    }
});

t.test("no point stands closer than Prometheus looks", async (t) => {
  t.same(timeAxis(0, 60_000, 500), { fromS: 0, toS: 60, stepS: 15 });
  t.same(timeAxis(0, 86_400_000, 500), { fromS: 96, toS: 86_400, stepS: 174 });
});
