import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** A file of the release tree: where it goes, where it lies now. */
export type TreeSource = { path: string; file: string; executable: boolean };

/** Every file below a folder as a part of the tree. */
export function treeOf(folder: string): TreeSource[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => ({ path, file: join(folder, path) }))
    .filter(({ file }) => statSync(file).isFile())
    .map((entry) => ({ ...entry, executable: (statSync(entry.file).mode & 0o111) !== 0 }));
}
