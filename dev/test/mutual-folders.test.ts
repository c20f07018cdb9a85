/** No pair of folders that import each other: neither could be read, tested or moved alone. */
import { globSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { mutualFolders } from "../house/house-figures.ts";
import { readImports } from "../house/read-imports.ts";

const repository = join(import.meta.dirname, "..", "..");
t.test("no two folders side by side import each other", async (t) => {
  const files = globSync(
    ["*/src/**/*.{ts,tsx}", "parts/*/src/**/*.ts", "parts/*/part.ts", "proofs/**/*.ts"],
    { cwd: repository, exclude: ["**/node_modules/**"] },
  );
  t.ok(files.length > 1_000);
  t.same(
    mutualFolders(readImports(repository, files)),
    [],
    "move what both need to where both may look down at it",
  );
});

t.test("a pair is found by whatever form of import, and through a room's door", async (t) => {
  const tree = t.testdir({
    "package.json": JSON.stringify({ workspaces: ["toy", "box"] }),
    toy: {
      "package.json": JSON.stringify({
        name: "@resontech/toy",
        exports: { "./a": "./src/a/a.ts" },
      }),
      src: {
        a: { "a.ts": 'import type { B } from "../b/b.ts";\n' },
        b: { "b.ts": 'export { A } from "../a/a.ts";\n' },
        c: { "c.ts": '// import "../a/a.ts";\nimport { a } from "@resontech/toy/a";\n' },
        d: { "d.ts": 'const d = await import("../e/e.ts");\n' },
        e: { "e.ts": 'import {\n  d,\n} from "../d/d.ts";\nimport "../gone.ts";\n' },
        f: { "f.ts": 'const program = import.meta.resolve("../g/g.ts");\n' },
        g: { "g.ts": 'import "../f/f.ts";\n' },
      },
    },
    box: { "package.json": JSON.stringify({ name: "@resontech/box" }) },
  });
  const files = globSync("**/*.ts", { cwd: tree });
  const imports = readImports(tree, files);
  t.same(mutualFolders(imports), [
    ...["toy/src/a <> toy/src/b", "toy/src/d <> toy/src/e", "toy/src/f <> toy/src/g"],
  ]);
  t.same(
    imports.filter(({ from }) => from === "toy/src/c/c.ts"),
    [{ from: "toy/src/c/c.ts", to: "toy/src/a/a.ts", named: "@resontech/toy/a" }],
  );
});
