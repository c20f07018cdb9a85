/** Which tests a change can reach: by git's word on what changed, and by what each test sees. */
import { runChild } from "@resontech/house/run-child";
import { readSourceTree } from "./sight/read-source-tree.ts";
import { sightsOf } from "./sight/sight.ts";

/** Tests that see anything of the difference between `revision` and the working tree, files that git does not know yet included; in the order of `tests`. */
export async function testsReachedSince(
  revision: string,
  repository: string,
  tests: readonly string[],
): Promise<string[]> {
  const git = (...args: string[]): Promise<string> =>
    runChild("git", args, { cwd: repository, quiet: true });
  const differing = (
    await git("diff", "--name-only", "--no-renames", "-z", "--end-of-options", revision, "--")
  ).split("\0");
  const untracked = (await git("ls-files", "--others", "--exclude-standard", "-z")).split("\0");
  const changed = [...differing, ...untracked].filter((file) => file !== "");
  const sights = sightsOf(tests, await readSourceTree(repository, changed));
  return tests.filter((test) => changed.some((file) => sights.get(test)!.has(file)));
}
