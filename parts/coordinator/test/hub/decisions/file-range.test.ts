import fc from "fast-check";
import t from "tap";
import { readRange } from "../../../src/hub/decisions/file-range.ts";

t.test("single ranges are read as RFC 9110 has them", async (t) => {
  t.same(readRange("bytes=0-3", 10), { start: 0, end: 3 });
  t.same(readRange("bytes=4-", 10), { start: 4, end: 9 });
  t.same(readRange("bytes=4-99", 10), { start: 4, end: 9 });
  t.same(readRange("bytes=-3", 10), { start: 7, end: 9 });
  t.same(readRange("bytes=-99", 10), { start: 0, end: 9 });
  t.equal(readRange("bytes=10-", 10), "none");
  t.equal(readRange("bytes=-0", 10), "none");
  t.equal(readRange("bytes=0-", 0), "none");
  for (const whole of [
    undefined,
    "",
    "bytes=-",
    "bytes=5-4",
    "bytes=0-1,3-4",
    "lines=0-1",
    "bytes=a-",
  ])
    t.equal(readRange(whole, 10), null, String(whole));
});

t.test("whatever is asked, no byte outside the file is meant", async () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(), fc.nat(), fc.nat(100), (text, from, to, size) => {
      for (const header of [text, `bytes=${from}-${to}`, `bytes=${from}-`, `bytes=-${to}`]) {
        const range = readRange(header, size);
        if (range === null || range === "none") continue;
        if (range.start < 0 || range.start > range.end || range.end >= size) return false;
      }
      return true;
    }),
  );
});
