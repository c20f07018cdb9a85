import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { wholeLines } from "../src/whole-lines.ts";

t.test("a file has the lines that its writer ended", async (t) => {
  const file = join(t.testdir(), "told");
  t.same(wholeLines(file), [], "none before it is there");
  writeFileSync(file, "");
  t.same(wholeLines(file), [], "none while it is empty");
  writeFileSync(file, "one\ntw");
  t.same(wholeLines(file), ["one"], "the last one is not at its end yet");
  writeFileSync(file, "one\n\ntwo\n");
  t.same(wholeLines(file), ["one", "", "two"]);
});
