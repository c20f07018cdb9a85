import { existsSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { EXCEPTIONS, overBudget } from "../tests/budgets.ts";
import { listDearest, listShared, readFileCosts } from "../tests/file-costs.ts";

const costOf = (file: string, cpuSeconds: number, partsSeconds = 0) => ({
  ...{ file, cpuSeconds, partsSeconds, wallSeconds: 1 },
});

t.test("the dearest files come first, with what all files cost", async (t) => {
  const lines = Array.from({ length: 40 }, (_, index) => `${index}.25\t2.5\t/r/x/${index}.test.ts`);
  const costs = readFileCosts(`${lines.join("\n")}\n`, "/r");
  t.equal(costs.length, 40);
  const told = listDearest(costs).split("\n");
  t.equal(told[0], "the 30 dearest of 40 files: 743 of 790 s of CPU");
  t.match(told[2], /^ {3}39\.3 +0\.0 +2\.5 {2}x\/39\.test\.ts$/);
  t.equal(told.length, 32);
});

t.test("a container counts for its file", async (t) => {
  const told = listDearest([costOf("a.ts", 5), costOf("b.ts", 1, 20)]).split("\n");
  t.match(told[2], /^ {3}21\.0 +20\.0 +1\.0 {2}b\.ts$/);
});

t.test("what no file has stands on lines of its own, the unknown rest too", async (t) => {
  const told = listShared(new Map([["keycloak", 30]]), [costOf("a.ts", 5, 5)], 50).split("\n");
  t.same(told, ["   30.0  keycloak", "   10.0  the run itself, and what was too short to be seen"]);
});

t.test("a line that was cut off is passed over, and no file is no list", async (t) => {
  t.same(readFileCosts("1.0\t2.0\t/r/a.ts\n3.0\t", "/r"), [
    { file: "a.ts", cpuSeconds: 1, partsSeconds: 0, wallSeconds: 2 },
  ]);
  t.equal(listDearest([]), "");
});

t.test("a file over the budget of its tier is named, one with a reason has its own", async (t) => {
  const [unit, engines] = ["a/test/x.test.ts", "a/test/x.engines.test.ts"];
  const exceptions = { [engines]: { cpuSeconds: 90, reason: "two clusters" } };
  t.same(overBudget([costOf(unit, 30), costOf(engines, 60)], {}), []);
  t.match(overBudget([costOf(unit, 31), costOf(engines, 40, 21)], {}), [
    /^a\/test\/x\.test\.ts used 31\.0 s of CPU, and 30 s/,
    /^a\/test\/x\.engines\.test\.ts used 61\.0 s of CPU, and 60 s/,
  ]);
  t.same(overBudget([costOf(engines, 90)], exceptions), []);
  t.equal(overBudget([costOf(engines, 91)], exceptions).length, 1);
});

t.test(
  "who may use more is a file that is there, with a reason and a limit above its budget",
  async (t) => {
    for (const [file, { cpuSeconds, reason }] of Object.entries(EXCEPTIONS)) {
      t.ok(existsSync(join(import.meta.dirname, "..", "..", file)), file);
      t.ok(reason.length > 20 && overBudget([costOf(file, cpuSeconds)], {}).length === 1, file);
    }
  },
);
