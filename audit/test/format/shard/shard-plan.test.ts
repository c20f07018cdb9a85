import t from "tap";
import {
  dueStep,
  firstSlug,
  inOrder,
  isNumbered,
  slugAfter,
  slugOf,
  slugsAfter,
} from "../../../src/format/shard/shard-plan.ts";

t.test("shards follow one another by year, and by number after a restore", async (t) => {
  t.equal(slugOf("box.audit.acme/2026-2"), "2026-2");
  t.equal(firstSlug(Date.UTC(2026, 11, 31, 23)), "2026");
  t.equal(slugAfter("2026", "restore"), "2026-2");
  t.equal(slugAfter("2026-2", "restore"), "2026-3");
  t.equal(slugAfter("2026", "year"), "2027");
  t.equal(slugAfter("2026-9", "year"), "2027");
  t.same(["2027", "2026-10", "2026", "2026-2"].sort(inOrder), [
    "2026",
    "2026-2",
    "2026-10",
    "2027",
  ]);
  t.throws(() => slugAfter("../x", "year"), RangeError);
});

t.test("what may have come after a shard by now is looked for up to the next year's", async (t) => {
  const after = slugsAfter("2026-3", "2027");
  t.same([after[0], after.at(-1), after.length], ["2026-4", "2028-16", 13 + 16 + 16]);
  t.same(
    slugsAfter("2026", "1970").filter((slug) => !isNumbered(slug)),
    ["2027"],
    "by a clock that is behind",
  );
  t.equal(
    slugsAfter("2026", "9999")
      .filter((slug) => !isNumbered(slug))
      .at(-1),
    "2042",
    "by one that is ahead",
  );
  t.ok(slugsAfter("2026-40", "2026").includes("2026-41"));
});

t.test(
  "the next shard is prepared thirty days ahead and turns after the new year, by a clock that is trusted",
  async (t) => {
    const newYear = Date.UTC(2027, 0, 1);
    const day = 86_400_000;
    const table: [
      offsetMs: number,
      isNextPrepared: boolean,
      isClockTrusted: boolean,
      due: string | null,
    ][] = [
      [-30 * day - 1, false, true, null],
      [-30 * day, false, true, "prepare"],
      [-30 * day, false, false, "prepare"],
      [-1, true, true, null],
      [0, true, true, "turn"],
      [0, true, false, null],
      [400 * day, false, true, "prepare"],
      [400 * day, true, true, "turn"],
    ];
    for (const [offsetMs, isNextPrepared, isClockTrusted, due] of table)
      t.equal(
        dueStep({ slug: "2026-2", isNextPrepared, nowMs: newYear + offsetMs, isClockTrusted }),
        due,
        `${offsetMs / day}`,
      );
  },
);
