/** What of the release a program is: its own file, what it is told to run, and what it loads by itself. */
import { relative } from "node:path";
import { type ReleaseFile, RUNTIME, runtimeLibraries } from "@resontech/contracts/release-manifest";

/** @param loads paths of the release; one that ends in `/` is all below it
 *  @returns paths in the release, in order, each once; a program of the host is none of it */
export function filesRun(
  { folder, tree }: { folder: string; tree: readonly ReleaseFile[] },
  command: { program: string; args: readonly string[]; loads: readonly string[] },
): string[] {
  const named = [command.program, ...command.args]
    .filter((path) => path.startsWith(`${folder}/`))
    .map((path) => relative(folder, path));
  const loaded = tree
    .map(({ path }) => path)
    .filter((path) =>
      command.loads.some((one) => path === one || (one.endsWith("/") && path.startsWith(one))),
    );
  const libraries = named.includes(RUNTIME) ? runtimeLibraries(tree) : [];
  return [...new Set([...named, ...loaded, ...libraries])].sort();
}
