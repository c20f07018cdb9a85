import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** Every entry below a folder: kind, mode, owner and content, but no times. */
export function listing(folder: string, ignore: RegExp = /^$/): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => !ignore.test(path))
    .sort()
    .map((path) => describe(folder, path));
}

function describe(folder: string, path: string): string {
  const file = join(folder, path);
  const entry = lstatSync(file);
  const head = `${path} ${entry.mode.toString(8)} ${entry.uid}:${entry.gid}`;
  if (entry.isSymbolicLink()) return `${head} → ${readlinkSync(file)}`;
  if (!entry.isFile()) return head;
  return `${head} ${createHash("sha256").update(readFileSync(file)).digest("hex")}`;
}
