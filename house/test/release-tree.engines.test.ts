/** Sources of another release run by rooms of their own. */
import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import t from "tap";
import { runChild } from "../src/run-child.ts";
import { ReleaseTree } from "../src/installed/release-tree.ts";

t.test("a room of the tree finds the tree's rooms, parts among them", async (t) => {
  const { folder } = ReleaseTree.ofThis(t.testdir());
  const asked = ["@resontech/parts", "@resontech/notifier/part", "@resontech/frame/layout"];
  const program = `
    for (const name of ${JSON.stringify(asked)}) await import(name);
    console.log(JSON.stringify(${JSON.stringify(asked)}.map((name) => import.meta.resolve(name))));
  `;
  const said = await runChild(process.execPath, ["--input-type=module", "-e", program], {
    ...{ cwd: folder, quiet: true },
  });
  for (const url of JSON.parse(said) as string[])
    t.ok(realpathSync(fileURLToPath(url)).startsWith(`${realpathSync(folder)}/`), url);
});
