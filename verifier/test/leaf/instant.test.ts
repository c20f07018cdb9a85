import fc from "fast-check";
import t from "tap";
import { instantMs } from "../../src/leaf/instant.ts";

/** The same by the runtime alone. */
function expectedMs(text: string): number {
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && new Date(ms).toISOString() === text ? ms : Number.NaN;
}

t.test(
  "gives the runtime's time for each text that is one, whatever was asked before",
  async (t) => {
    const digits = (width: number, max: number) =>
      fc.nat(max).map((value) => String(value).padStart(width, "0"));
    const text = fc
      .tuple(
        digits(4, 9_999),
        digits(2, 13),
        digits(2, 32),
        digits(2, 25),
        digits(2, 61),
        digits(2, 61),
        digits(3, 999),
      )
      .map(
        ([year, month, day, hour, minute, second, ms]) =>
          `${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`,
      );
    const near = fc
      .integer({ min: -200_000_000, max: 200_000_000 })
      .map((ms) => new Date(951_782_400_000 + ms).toISOString());
    t.doesNotThrow(() =>
      fc.assert(
        fc.property(fc.oneof(text, near), (one) => {
          if (!Object.is(instantMs(one), expectedMs(one)))
            throw new Error(`${one}: ${instantMs(one)}`);
        }),
        { numRuns: 50_000 },
      ),
    );
  },
);

t.test("what is of another form, or not in the calendar, is no time", async (t) => {
  for (const text of [
    "",
    "2026-03-01",
    "2026-03-01T08:00:00Z",
    "2026-03-01T08:00:00.000",
    "2026-03-01T08:00:00.000+00:00",
    "2026-03-01T24:00:00.000Z",
    "2026-02-29T08:00:00.000Z",
    "2026-02-30T08:00:00.000Z",
    "2026-00-01T08:00:00.000Z",
    "+002026-03-01T08:00:00.000Z",
  ])
    t.ok(Number.isNaN(instantMs(text)), text);
  t.equal(instantMs("2024-02-29T23:59:59.999Z"), Date.UTC(2024, 1, 29, 23, 59, 59, 999));
});
