import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { Verdicts } from "../tests/verdicts.ts";

const good = { passed: 3, skipped: 1, failures: [] };
const DAY = 24 * 3_600_000;

t.test("a pass holds for the bytes that passed, in a later run too, and for a week", async (t) => {
  const file = join(t.testdir(), "verdicts.json");
  const verdicts = Verdicts.load(file);
  verdicts.note("a", good, "d1", 1_000);
  verdicts.save();
  const later = Verdicts.load(file);
  t.match(later.find("a", "d1", 2_000), { passed: 3, skipped: 1 });
  t.equal(later.find("a", "d2", 2_000), null);
  t.equal(later.find("a", null, 2_000), null);
  t.equal(later.find("b", "d1", 2_000), null);
  t.equal(later.find("a", "d1", 1_000 + 7 * DAY), null);
  t.equal(later.find("a", "d1", 999), null, "of a clock that was set back");
});

t.test("a failure takes an earlier pass away", async (t) => {
  const verdicts = Verdicts.load(join(t.testdir(), "none.json"));
  verdicts.note("a", good, "d1", 1_000);
  verdicts.note("a", { ...good, failures: [{ fullname: "a", diagnostics: null }] }, "d2", 2_000);
  t.equal(verdicts.find("a", "d1", 3_000), null);
  t.equal(verdicts.find("a", "d2", 3_000), null);
});

t.test("a file that was cut off holds nothing, and is written anew", async (t) => {
  const file = join(t.testdir(), "verdicts.json");
  writeFileSync(file, '{"a":{"digest"');
  const verdicts = Verdicts.load(file);
  t.equal(verdicts.find("a", "d1", 0), null);
  verdicts.note("a", good, "d1", 0);
  verdicts.save();
  t.match(JSON.parse(readFileSync(file, "utf8")), { a: { digest: "d1" } });
});
