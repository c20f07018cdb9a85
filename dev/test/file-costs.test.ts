import t from "tap";
import { listDearest, readFileCosts } from "../tests/file-costs.ts";

t.test("the dearest files come first, with what all files cost", async (t) => {
  const lines = Array.from({ length: 40 }, (_, index) => `${index}.25\t2.5\t/r/x/${index}.test.ts`);
  const costs = readFileCosts(`${lines.join("\n")}\n`, "/r");
  t.equal(costs.length, 40);
  const told = listDearest(costs).split("\n");
  t.equal(told[0], "the 30 dearest of 40 files: 743 of 790 s of CPU");
  t.equal(told[2], "   39.3     2.5  x/39.test.ts");
  t.equal(told.length, 32);
});

t.test("a line that was cut off is passed over, and no file is no list", async (t) => {
  t.same(readFileCosts("1.0\t2.0\t/r/a.ts\n3.0\t", "/r"), [
    { file: "a.ts", cpuSeconds: 1, wallSeconds: 2 },
  ]);
  t.equal(listDearest([]), "");
});
