import fc from "fast-check";
import t from "tap";
import { newestLines, shareRoom } from "../../../src/support/decisions/share-room.ts";
import { spareLine } from "../../../src/support/decisions/spare-line.ts";

t.test("a small log is taken whole, and the large ones share the rest", async (t) => {
  t.same(shareRoom([10, 1_000, 2_000], 210), [10, 100, 100]);
  t.same(shareRoom([10, 20], 100), [10, 20]);
  t.same(shareRoom([10], -1), [0]);
  fc.assert(
    fc.property(fc.array(fc.nat(10_000)), fc.nat(50_000), (needs, room) => {
      const shares = shareRoom(needs, room);
      return (
        shares.reduce((a, b) => a + b, 0) <= room &&
        shares.every((share, at) => share <= needs[at]!)
      );
    }),
  );
});

t.test("the newest lines stay, whole", async (t) => {
  t.same(newestLines("one\ntwo\nthree\n", 100), { text: "one\ntwo\nthree\n", left: 0 });
  t.same(newestLines("one\ntwo\nthree\n", 10), { text: "two\nthree\n", left: 1 });
  t.same(newestLines("one\ntwo\nthree\n", 9), { text: "three\n", left: 2 });
  t.same(newestLines("one\ntwo\nthree\n", 3), { text: "", left: 3 });
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme" })), fc.nat(200), (lines, room) => {
      const all = lines.map((line) => `${line.replaceAll("\n", "")}\n`).join("");
      const { text } = newestLines(all, room);
      return all.endsWith(text) && Buffer.byteLength(text) <= room;
    }),
  );
});

t.test("where people are unknown, a line keeps only words of the program", async (t) => {
  const told = spareLine(
    JSON.stringify({
      ...{ level: 50, time: 7, msg: "failed", who: "anna", deep: { a: "anna" } },
      err: { type: "E", message: "anna", stack: "E: anna\n    at f (file.ts:1)" },
    }),
  );
  t.same(JSON.parse(told ?? ""), {
    ...{ level: 50, time: 7, msg: "failed" },
    err: { type: "E", stack: "    at f (file.ts:1)" },
  });
  t.equal(spareLine("anna signed in"), null);
});
