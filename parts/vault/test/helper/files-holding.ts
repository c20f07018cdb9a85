import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** Files below `folder` that hold these bytes. */
export function filesHolding(folder: string, bytes: string | Buffer): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter(
      (path) =>
        statSync(path, { throwIfNoEntry: false })?.isFile() === true &&
        readFileSync(path).includes(bytes),
    );
}
