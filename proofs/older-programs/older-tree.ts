/** The sources of an earlier commit in a folder of their own, with the packages of this clone. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";

const ROOMS = "@resontech";

/** @throws when the clone has no such commit: it was made without history */
export function extractTree(repository: string, commit: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  const archive = execFileSync("git", ["-C", repository, "archive", "--format=tar", commit], {
    maxBuffer: 512 * 1024 ** 2,
  });
  execFileSync("tar", ["-x", "-C", folder], { input: archive });
  const packages = join(repository, "node_modules");
  const linked = join(folder, "node_modules");
  mkdirSync(join(linked, ROOMS), { recursive: true });
  for (const name of readdirSync(packages))
    if (name !== ROOMS) symlinkSync(join(packages, name), join(linked, name));
  // A room imports the rooms of its own commit.
  for (const room of readdirSync(join(packages, ROOMS)))
    symlinkSync(join(folder, room), join(linked, ROOMS, room));
}
