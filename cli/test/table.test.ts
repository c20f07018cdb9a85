import t from "tap";
import { asTable } from "../src/table.ts";

const HEAD = ["KEY", "USER", "NAME", "STATE", "ENDS", "LAST USE"];
const KEY = "k_0123456789abcdef01234567";
const ROW = [KEY, "alice", "first key of the lab", "living", "in 29 days", "2 h ago"];
const NARROW = [80, 60];

const linesOf = (text: string): string[] => text.trimEnd().split("\n");
const words = (row: readonly string[]): string[] =>
  row.flatMap((cell) => cell.split(" ")).filter((word) => word !== "");

t.test("what comes from outside is shown and not obeyed", async (t) => {
  t.equal(
    linesOf(asTable(["A", "B"], [["1", "x\u001b[2Jy\u202ez"]], 40))[1],
    "1  x\\u{1b}[2Jy\\u{202e}z",
  );
});

t.test("names keep their letters", async (t) => {
  t.equal(
    linesOf(asTable(["A", "B"], [["1", "Müller rsk_…\n9"]], 40))[1],
    "1  Müller rsk_…\\u{a}9",
  );
});

t.test("what fits is one line for each row", async (t) => {
  t.same(linesOf(asTable(["A", "B"], [["1", "two words"]], 80)), ["A  B", "1  two words"]);
  t.match(
    asTable(HEAD, [ROW], null),
    ROW.slice(0, 3).join("  "),
    "and so is everything where there is no terminal",
  );
});

t.test(
  "no column is lost where the terminal is narrow: cells wrap at blanks, and no name or id is cut",
  async (t) => {
    const second = ["k_0123456789abcdef01234568", "bob", "", "revoked", "3 d ago", "never"];
    const lines = linesOf(asTable(HEAD, [ROW, second], 80));
    t.ok(lines.every((line) => line.length <= 80));
    for (const word of [...words(HEAD), ...words(ROW), ...words(second)])
      t.ok(lines.join(" ").includes(word), word);
    t.match(lines[0], /^KEY +USER +NAME +STATE/);
    t.ok(
      lines.some((line) => line.startsWith(`${KEY}  alice  `)),
      "a row begins with what names it",
    );
  },
);

t.test("where even that is too wide a row is lines of a name and a value, whole", async (t) => {
  const long = [KEY, "researcher-of-ward-seven", ...ROW.slice(2)];
  for (const columns of NARROW) {
    const text = asTable(HEAD, [long, ROW], columns);
    const lines = linesOf(text);
    t.ok(lines.every((line) => line.length <= columns));
    t.same(lines.slice(0, 3), [
      `KEY       ${KEY}`,
      "USER      researcher-of-ward-seven",
      "NAME      first key of the lab",
    ]);
    t.equal(text.split("\n\n").length, 2, "a blank line between two rows");
  }
  t.match(
    asTable(["JOB", "WHY"], [["job-1", "x".repeat(90)]], 60),
    `WHY  ${"x".repeat(90)}`,
    "a word that no line holds is whole",
  );
});

t.test("long words of the operator wrap beneath one another", async (t) => {
  const why =
    "waits for a worker with 24 GB, of which none is free, and none will be before the job of the other ward has ended";
  for (const columns of NARROW) {
    const lines = linesOf(
      asTable(["JOB", "STATE", "WHY"], [["job-0123456789abcdef", "QUEUED", why]], columns),
    );
    t.ok(lines.every((line) => line.length <= columns));
    t.equal(lines.join(" ").match(/\b(waits|ended)\b/g)?.length, 2);
  }
});

t.test("two ids that differ in their middle stay two at any width", async (t) => {
  const ids = ["0", "1"].map((digit) => `u_${"a".repeat(11)}${digit}${"b".repeat(12)}`);
  for (const columns of [...NARROW, 40, 20])
    for (const id of ids)
      t.ok(
        asTable(["ENTRY", "BY", "FOR"], [["2026/1", ...ids]], columns).includes(id),
        `${columns}`,
      );
});
