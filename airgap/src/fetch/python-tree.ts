/** Wheels unpacked and byte-compiled for a job image: started containers have a read-only root and must not compile at each import. */
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { command } from "../cache/command.ts";

/** Where Debian's Python looks for local packages. */
export const SITE_PACKAGES = "usr/local/lib/python3.11/dist-packages";

const UNPACK = join(import.meta.dirname, "..", "..", "recipes", "python", "unpack-wheels.py");

/** Unpacks wheels into `tree` where an image's Python finds them, without running anything of theirs. */
export async function unpackWheels(wheels: readonly string[], tree: string): Promise<void> {
  const target = join(tree, SITE_PACKAGES);
  mkdirSync(target, { recursive: true });
  await command("python3", [UNPACK, target, ...wheels]);
}

/**
 * Compiles `folder` (a path inside `tree`) with the Python of `root`, on which nothing is written. One process in a fixed order and a fixed
 * hash seed: marshalled constants depend on both, and the layer must come out the same twice. Tests of packages stay as source.
 */
export async function compilePython(root: string, tree: string, folder: string): Promise<void> {
  const script = [
    "set -eu",
    'mount --bind "$2/$3" "$1/mnt"',
    'exec chroot "$1" /usr/bin/env PYTHONHASHSEED=0 python3 -B -m compileall -q -x "/tests?/" --invalidation-mode unchecked-hash -s /mnt -p "/$3" /mnt',
  ].join("\n");
  // Some wheels carry files that are not Python 3.11 (templates): compileall names them and goes on with status 1.
  await command("unshare", [
    "-m",
    "sh",
    "-c",
    `(${script}) || [ $? -eq 1 ]`,
    "compile",
    root,
    tree,
    folder,
  ]);
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
