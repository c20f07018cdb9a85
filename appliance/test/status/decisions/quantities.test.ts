import t from "tap";
import {
  formatFromNow,
  formatInstant,
  formatSize,
  parseSize,
} from "../../../src/status/decisions/quantities.ts";

t.test("sizes are read as people write them, and what is none is refused", async (t) => {
  for (const [text, bytes] of [
    ["500GB", 5e11],
    ["1.5 TiB", 1.5 * 1024 ** 4],
    ["1000000", 1e6],
    ["0", 0],
    ["10mib", 10 * 1024 ** 2],
  ] as const)
    t.equal(parseSize(text), bytes, text);
  for (const text of ["", "GB", "-1GB", "1e400", "5 parsecs", "9999999TiB", "1.2.3"])
    t.equal(parseSize(text), null, text);
});

t.test("sizes, instants and spans are shown short", async (t) => {
  t.same([0, 1023, 1024, 5.5 * 1024 ** 3].map(formatSize), ["0 B", "1023 B", "1.0 KiB", "5.5 GiB"]);
  t.equal(formatInstant("2026-11-25T14:03:07.123Z"), "2026-11-25 14:03");
  t.equal(formatInstant(null), "never");
  const now = Date.parse("2026-11-25T00:00:00Z");
  t.equal(formatFromNow("2026-12-25T00:00:00Z", now), "in 30 days");
  t.equal(formatFromNow("2026-11-24T21:00:00Z", now), "3 h ago");
});
