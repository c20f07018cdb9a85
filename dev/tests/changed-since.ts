/** Reads what {@link reachedTests} decides on: git's word on what changed, and the tree of sources. */
import { runChild } from "@resontech/house/run-child";
import { reachedTests } from "./reached-tests.ts";
import { readSourceTree } from "./read-source-tree.ts";

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
  return reachedTests({
    ...(await readSourceTree(repository)),
    changed: [...changed, ...untracked].filter((file) => file !== ""),
    tests,
  });
}
