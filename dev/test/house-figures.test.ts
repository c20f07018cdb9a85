import t from "tap";
import {
  foldersAtRoot,
  mutualFolders,
  pathsIntoRooms,
  unusedExports,
} from "../house/house-figures.ts";

const go = (from: string, to: string, named = "../x.ts") => ({ from, to, named });

t.test("folders count, and neither files nor what begins with a dot", async (t) => {
  const files = ["README.md", ".ci/run", "cli/src/a.ts", "cli/b.ts", "parts/index.ts"];
  t.same(foldersAtRoot(files), ["cli", "parts"]);
});

t.test("an import by path into another room is told from one by its door", async (t) => {
  const byPath = go("cli/test/a.ts", "audit/test/b.ts", "../../audit/test/b.ts");
  t.same(
    pathsIntoRooms([
      byPath,
      go("cli/src/a.ts", "frame/src/b.ts", "@resontech/frame/b"),
      go("cli/src/a.ts", "cli/src/b/c.ts"),
      go("parts/one/src/a.ts", "parts/other/src/b.ts"),
      go("parts/test/parts.test.ts", "parts/index.ts"),
    ]),
    [byPath, go("parts/one/src/a.ts", "parts/other/src/b.ts")],
  );
});

t.test("an export is used when another room imports it, and not by its own room", async (t) => {
  t.same(
    unusedExports(
      ["@resontech/frame/own", "@resontech/frame/b", "@resontech/frame/alone"],
      [
        go("cli/test/a.ts", "frame/src/b.ts", "@resontech/frame/b"),
        go("frame/test/a.ts", "frame/src/own.ts", "@resontech/frame/own"),
      ],
    ),
    ["@resontech/frame/alone", "@resontech/frame/own"],
  );
});

t.test("two folders side by side that import each other are one pair", async (t) => {
  t.same(
    mutualFolders([
      go("cli/src/a/x.ts", "cli/src/b/y.ts"),
      go("cli/src/b/z.ts", "cli/src/a/deep/x.ts"),
      go("cli/src/a/x.ts", "cli/src/c/y.ts"),
      go("cli/src/a/x.ts", "cli/src/top.ts"),
      go("cli/src/top.ts", "cli/src/a/x.ts"),
      go("proofs/bench/x.ts", "proofs/lives/y.ts"),
      go("proofs/lives/life/z.ts", "proofs/bench/x.ts"),
      go("cli/test/a/x.ts", "cli/test/b/y.ts"),
      go("cli/test/b/y.ts", "cli/test/a/x.ts"),
    ]),
    ["cli/src/a <> cli/src/b", "proofs/bench <> proofs/lives"],
  );
});
