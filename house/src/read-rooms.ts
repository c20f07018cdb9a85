import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Folders of every workspace, by their paths in this tree. */
export function readRooms(repository: string): string[] {
  const { workspaces } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as {
    workspaces: string[];
  };
  return globSync(workspaces, { cwd: repository })
    .filter((folder) => existsSync(join(repository, folder, "package.json")))
    .sort();
}
