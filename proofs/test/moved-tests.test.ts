import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";

const repository = join(import.meta.dirname, "../..");
const read = (file: string): string => readFileSync(join(repository, file), "utf8");

/** @property after the test that catches the bug now, as `FILE: NAME` */
type MovedTest = { bug: string; file: string; before: string; after: string };

t.test("each test that catches now what a moved one caught is there by its name", async (t) => {
  const moved = JSON.parse(read("docs/proofs/moved-tests.json")) as MovedTest[];
  t.ok(moved.length >= 20);
  t.equal(new Set(moved.map(({ bug }) => bug)).size, moved.length, "each bug stands once");
  for (const { bug, file, after } of moved) {
    const [test = "", ...name] = after.split(": ");
    t.ok(read(test).includes(name.join(": ")), `${after}: ${bug}`);
    t.ok(read(file).length > 0, file);
  }
});
