import t from "tap";
import { readPeriod } from "../../../src/audit/decisions/read-period.ts";
import { readTime } from "@resontech/contracts/read-time";

const NOW = Date.parse("2026-11-28T15:30:00.000Z");
const at = (text: string, edge: "from" | "to" = "from"): string | null => {
  const time = readTime(text, edge, NOW);
  return time === null ? null : new Date(time.ms).toISOString();
};

t.test(
  "times as people write them: days are whole in UTC, times may have an offset, ages count back",
  async (t) => {
    t.same(
      ["2026-11-25", "2026-11-25 14:00", "2026-11-25T01:30:00+02:00", "2026-11-25T14:03:00.5Z"].map(
        (text) => at(text),
      ),
      [
        ...["2026-11-25T00:00:00.000Z", "2026-11-25T14:00:00.000Z"],
        ...["2026-11-24T23:30:00.000Z", "2026-11-25T14:03:00.500Z"],
      ],
    );
    t.equal(at("2026-11-25", "to"), "2026-11-26T00:00:00.000Z");
    t.equal(at("yesterday"), "2026-11-27T00:00:00.000Z");
    t.equal(at("yesterday", "to"), "2026-11-28T00:00:00.000Z");
    t.equal(at("today"), "2026-11-28T00:00:00.000Z");
    t.equal(at("now", "to"), "2026-11-28T15:30:00.000Z");
    t.same(
      ["7d", "24h", "30m", "2w"].map((text) => at(text)),
      [
        ...["2026-11-21T15:30:00.000Z", "2026-11-27T15:30:00.000Z"],
        ...["2026-11-28T15:00:00.000Z", "2026-11-14T15:30:00.000Z"],
      ],
    );
  },
);

t.test("what is no time is refused, with the forms that there are", async (t) => {
  for (const text of [
    ...["2026-02-30", "2026-13-01", "2026-02-30T00:00:00Z", "0000-00-00T00:00:00Z", "1969-12-31"],
    ...["last week", "7", "7y", "99999w", "2026-11-25T25:00:00Z", "2026-11-28 1400"],
  ]) {
    t.equal(at(text), null, text);
    t.throws(() => readPeriod({ from: text }, NOW), { message: /yesterday, now.*7d/ }, text);
  }
  t.throws(() => readPeriod({ from: "2026-11-28", to: "2026-11-27" }, NOW), {
    message: /not before/,
  });
});

t.test("a period that moves with the clock stands still from page to page", async (t) => {
  const first = readPeriod({ from: "7d" }, NOW);
  const cursor = first.seal("abc_-1")!;
  const later = readPeriod({ from: "7d", cursor }, NOW + 60_000);
  t.equal(later.from, first.from);
  t.equal(later.cursor, "abc_-1");
  t.equal(later.seal("next"), `next.${cursor.split(".").slice(1).join(".")}`);
  const fixed = readPeriod({ from: "2026-11-25", cursor: "abc" }, NOW);
  t.equal(fixed.cursor, "abc");
  t.equal(fixed.seal("next"), "next");
  t.equal(fixed.seal(null), null);
});
