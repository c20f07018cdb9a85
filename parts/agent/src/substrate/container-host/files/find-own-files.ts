import { type Dirent, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { FoundFile } from "../../../decisions/own-files.ts";

/** What a job may make somebody walk over. */
const MAX_ENTRIES = 20_000;
const MAX_DEPTH = 8;

/** Regular files beneath a folder of an ended job, breadth first, without following a link; of more than the limit the first. */
export function findOwnFiles(folder: string): FoundFile[] {
  const found: FoundFile[] = [];
  const folders = [""];
  let entries = 0;
  for (let path = folders.shift(); path !== undefined; path = folders.shift()) {
    for (const entry of entriesOf(join(folder, path))) {
      if (++entries > MAX_ENTRIES) return found;
      const below = path === "" ? entry.name : `${path}/${entry.name}`;
      if (entry.isDirectory() && below.split("/").length < MAX_DEPTH) folders.push(below);
      if (entry.isFile())
        found.push({ path: below, sizeBytes: statSync(join(folder, below)).size });
    }
  }
  return found;
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // Its mode is the job's to choose, and root reads all but what is gone.
    return [];
  }
}
