/** No new name that another file exports: two things of one name are taken for one another. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { sharedNames } from "../house/exported-names.ts";

const repository = join(import.meta.dirname, "..", "..");
/** Those that were there before the rule. A name goes from the list when one thing has it. */
const KNOWN = JSON.parse(
  readFileSync(join(import.meta.dirname, "..", "house", "shared-names.json"), "utf8"),
) as string[];

t.test("no file of the product exports a name that another one exports", async (t) => {
  const files = globSync(["*/src/**/*.{ts,tsx}", "parts/*/src/**/*.ts"], {
    cwd: repository,
    exclude: ["**/node_modules/**"],
  });
  t.ok(files.length > 1_000);
  const shared = sharedNames(
    Object.fromEntries(files.map((file) => [file, readFileSync(join(repository, file), "utf8")])),
  );
  t.same(
    [...shared].filter(([name]) => !KNOWN.includes(name)),
    [],
    "say what this one is, in its name",
  );
  t.same(
    KNOWN.filter((name) => !shared.has(name)),
    [],
    "these are one thing now: take them from dev/house/shared-names.json",
  );
});

t.test("a name is found however it is exported, and one file may export it twice", async (t) => {
  const shared = sharedNames({
    "a.ts": "export const Toy = 1;\nexport type Toy = number;\nexport function play() {}\n",
    "b.ts": "export async function play() {}\nconst hidden = 1;\n",
    "c.ts": "export class Toys {}\n// export const Toy = 2;\nconst hidden = 2;\n",
  });
  t.same([...shared], [["play", ["a.ts", "b.ts"]]]);
});
