import t from "tap";
import { dueStep, firstSlug, rolledBackFrom, slugAfter, slugOf } from "../../src/decisions/shard-plan.ts";

t.test("shards follow one another by year, and by number after a restore", async (t) => {
  t.equal(slugOf("box.audit.acme/2026-2"), "2026-2");
  t.equal(firstSlug(Date.UTC(2026, 11, 31, 23)), "2026");
  t.equal(slugAfter("2026", "restore"), "2026-2");
  t.equal(slugAfter("2026-2", "restore"), "2026-3");
  t.equal(slugAfter("2026", "year"), "2027");
  t.equal(slugAfter("2026-9", "year"), "2027");
  t.throws(() => slugAfter("../x", "year"), RangeError);
});

t.test("the next shard is prepared thirty days ahead and turns after the new year, by a clock that is trusted", async (t) => {
  const newYear = Date.UTC(2027, 0, 1);
  const day = 86_400_000;
  const table: [offsetMs: number, isNextPrepared: boolean, isClockTrusted: boolean, due: string | null][] = [
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
    t.equal(dueStep({ slug: "2026-2", isNextPrepared, nowMs: newYear + offsetMs, isClockTrusted }), due, `${offsetMs / day}`);
});

t.test("a log is rolled back when anybody has seen more of it than it holds", async (t) => {
  t.equal(rolledBackFrom(10, []), null);
  t.equal(rolledBackFrom(10, [{ size: 10, root: "a", by: "audit-out" }]), null);
  t.same(
    rolledBackFrom(10, [
      { size: 12, root: null, by: "x" },
      { size: 40, root: "r", by: "w" },
      { size: 11, root: null, by: "y" },
    ]),
    {
      size: 40,
      root: "r",
      by: "w",
    },
  );
});
