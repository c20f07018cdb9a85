import t from "tap";
import { filesOfTree, tilePath } from "../../../src/format/tree/tile-layout.ts";
import { expectedFiles } from "@resontech/verifier/tree/tree";

t.test("names tiles as tlog-tiles has them", async (t) => {
  t.equal(tilePath({ level: 0, index: 0, width: 256 }), "tile/0/000");
  t.equal(tilePath({ level: 1, index: 1_234_067, width: 256 }), "tile/1/x001/x234/067");
  t.equal(tilePath({ level: "entries", index: 273, width: 112 }), "tile/entries/273.p/112");
  t.equal(tilePath({ level: 2, index: 1_000, width: 1 }), "tile/2/x001/000.p/1");
});

t.test("a tree of 70,000 leaves has the files that the specification counts", async (t) => {
  const names = [...filesOfTree(70_000)];
  const count = (level: number | "entries", isFull: boolean) =>
    names.filter((name) => name.level === level && (name.width === 256) === isFull).length;
  t.same(
    [
      count(0, true),
      count(0, false),
      count(1, true),
      count(1, false),
      count(2, true),
      count(2, false),
    ],
    [273, 1, 1, 1, 0, 1],
  );
  t.same(
    names.filter(({ width }) => width < 256).map(({ level, width }) => [level, width]),
    [
      ["entries", 112],
      [0, 112],
      [1, 17],
      [2, 1],
    ],
  );
  t.same([...filesOfTree(256)].map(tilePath), ["tile/entries/000", "tile/0/000", "tile/1/000.p/1"]);
  t.same([...filesOfTree(0)], []);
});

t.test("the verifier, written apart, expects exactly the files that the export has", async (t) => {
  for (const size of [
    0, 1, 255, 256, 257, 511, 512, 65_535, 65_536, 65_537, 70_000, 131_072, 300_001,
  ])
    t.same(
      [...expectedFiles(size)].map(({ name }) => name),
      [...filesOfTree(size)].map(tilePath),
      `${size} leaves`,
    );
});
