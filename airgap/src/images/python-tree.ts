/** Wheels unpacked and byte-compiled for a job image: started containers have a read-only root and must not compile at each import. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { command } from "../cache/command.ts";

/** Where Debian's Python looks for local packages. */
export const SITE_PACKAGES = "usr/local/lib/python3.11/dist-packages";

/** Unpacks every wheel of the folder into `tree` without running anything of theirs. */
export async function unpackWheels(wheels: string, tree: string): Promise<void> {
  const target = join(tree, SITE_PACKAGES);
  mkdirSync(target, { recursive: true });
  const files = readdirSync(wheels).filter((name) => name.endsWith(".whl"));
  await command("python3", [
    "-m",
    "pip",
    "install",
    "--quiet",
    "--disable-pip-version-check",
    "--no-index",
    "--no-deps",
    "--no-compile",
    "--target",
    target,
    ...files.map((name) => join(wheels, name)),
  ]);
  // Console scripts name the build machine's interpreter; jobs start modules instead.
  rmSync(join(target, "bin"), { recursive: true, force: true });
  for (const name of readdirSync(target).filter((entry) => entry.endsWith(".dist-info"))) {
    const record = join(target, name, "RECORD");
    const kept = readFileSync(record, "utf8")
      .split("\n")
      .filter((line) => !/^(\.\.\/)*bin\//.test(line));
    writeFileSync(record, kept.join("\n"));
  }
}

/**
 * Compiles `folder` (a path inside `tree`) with the Python of `root`. One process in a fixed order and a fixed hash seed: marshalled
 * constants depend on both, and the layer must come out the same twice.
 */
export async function compilePython(root: string, tree: string, folder: string): Promise<void> {
  const script = [
    "set -eu",
    'mkdir -p "$1/$3"',
    'if [ "$1" != "$2" ]; then mount --bind "$2/$3" "$1/$3"; fi',
    'exec chroot "$1" /usr/bin/env PYTHONHASHSEED=0 python3 -m compileall -q --invalidation-mode unchecked-hash "/$3"',
  ].join("\n");
  // Some wheels carry files that are not Python 3.11 (templates, tests): compileall names them and goes on with status 1.
  await command("unshare", ["-m", "sh", "-c", `(${script}) || [ $? -eq 1 ]`, "compile", root, tree, folder]);
}

/** Normalized name → version of every distribution of the tree. */
export function listPackages(tree: string): Record<string, string> {
  const packages: Record<string, string> = {};
  for (const name of readdirSync(join(tree, SITE_PACKAGES)).sort()) {
    const found = /^(.+)-([^-]+)\.dist-info$/.exec(name);
    if (found?.[1] !== undefined && found[2] !== undefined)
      packages[found[1].toLowerCase().replaceAll(/[-_.]+/g, "-")] = found[2];
  }
  return packages;
}
