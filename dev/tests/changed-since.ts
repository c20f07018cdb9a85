/** Reads what {@link reachedTests} decides on: git's word on what changed, the imports of every file, the programs that tests start. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { programSource } from "@resontech/airgap/programs";
import { runChild } from "../child.ts";
import { reachedTests } from "./reached-tests.ts";

type Cruised = { modules: { source: string; dependencies: { resolved: string }[] }[] };

/** Tests that the difference between `revision` and the working tree reaches, files that git does not know yet included. */
export async function testsReachedSince(
  revision: string,
  repository: string,
  tests: readonly string[],
): Promise<string[]> {
  const git = (...args: string[]): Promise<string> =>
    runChild("git", args, { cwd: repository, quiet: true });
  const changed = (
    await git("diff", "--name-only", "--no-renames", "-z", "--end-of-options", revision, "--")
  ).split("\0");
  const untracked = (await git("ls-files", "--others", "--exclude-standard", "-z")).split("\0");
  const imports = await readImports(repository);
  const programs = new Map(
    [...imports.keys()]
      .filter((file) => file.includes("/test/"))
      .map((file) => [file, programsOf(repository, file)]),
  );
  return reachedTests({
    changed: [...changed, ...untracked].filter((file) => file !== ""),
    imports,
    programs,
    tests,
  });
}

async function readImports(repository: string): Promise<Map<string, string[]>> {
  const rooms = (
    JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as { workspaces: string[] }
  ).workspaces;
  const output = await runChild(
    join(repository, "node_modules/.bin/depcruise"),
    [...rooms, "dev", "--output-type", "json"],
    {
      cwd: repository,
      quiet: true,
    },
  );
  const { modules } = JSON.parse(output) as Cruised;
  return new Map(
    modules.map(({ source, dependencies }) => [
      source,
      dependencies.map(({ resolved }) => resolved),
    ]),
  );
}

/** Sources of what a test starts as `shippedProgram("name")`. */
function programsOf(repository: string, file: string): string[] {
  const text = file.endsWith(".ts") ? readFileSync(join(repository, file), "utf8") : "";
  return [...text.matchAll(/shippedProgram\("([a-z0-9-]+)"\)/g)].map(([, name]) =>
    programSource(name!),
  );
}
