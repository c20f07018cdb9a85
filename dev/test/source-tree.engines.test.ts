/** Which tests a change reaches depends on this: a file that a room exports is imported by its name as another is by its path. */
import { globSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { readImports } from "../house/read-imports.ts";
import { readSourceTree } from "../tests/read-source-tree.ts";

const repository = join(import.meta.dirname, "..", "..");
/** What tests alone import. */
const FIXTURE = /^@resontech\/(?:[^/]+\/testing|house)\//;

t.test("fixtures are followed through exports of rooms", async (t) => {
  const files = globSync(["*/test/**/*.ts", "parts/*/test/**/*.ts", "house/src/**/*.ts"], {
    cwd: repository,
    exclude: ["**/node_modules/**"],
  });
  const byName = readImports(repository, files).filter(({ named }) => FIXTURE.test(named));
  t.ok(byName.length > 300);
  const { imports } = await readSourceTree(repository);
  t.same(
    byName.filter(({ from, to }) => imports.get(from)?.includes(to) !== true),
    [],
  );
});
