import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { syncNow } from "@resontech/frame/durable-file-now";
import { Journal, journalFile } from "../journal.ts";

/** What an install makes directly below its root; uninstall removes these and nothing else there. The journal goes last. */
export const ROOT_ENTRIES = [
  "boot",
  "current",
  "current.part",
  "releases",
  "blobs",
  "data",
  "log",
  "etc",
  "journal",
] as const;

/** Ends the name of what is not whole yet or is on its way out; nothing else may be called so. `install.sh` knows it as well. */
const HALF = ".resontech-part";
const HALF_JOURNAL = `journal${HALF}`;
/** A file system of its own brings this along. */
const NOT_FOREIGN: ReadonlySet<string> = new Set(["lost+found", HALF_JOURNAL]);

export type RootState = "free" | "ours" | "foreign";

/**
 * `foreign`: it holds other files, which an uninstall could not tell from ours, or users other than root may write there, and then nothing in
 * it may be believed.
 */
export function rootState(root: string): RootState {
  const entry = statSync(root, { throwIfNoEntry: false });
  if (entry === undefined) return "free";
  if (!entry.isDirectory() || entry.uid !== 0 || (entry.mode & 0o022) !== 0) return "foreign";
  if (existsSync(journalFile(root))) return "ours";
  return readdirSync(root).every((name) => NOT_FOREIGN.has(name)) ? "free" : "foreign";
}

/**
 * Makes the root and the parents that it lacks, with a ledger that names each of them: they appear together, by one rename, so no crash leaves
 * a folder of which nothing is known.
 */
export function makeRoot(root: string): void {
  discardHalfMade(root);
  const missing = missingFolders(root);
  const top = missing[0];
  if (top === undefined) return;
  const beside = `${top}${HALF}`;
  const rootBeside = join(beside, relative(top, root));
  mkdirSync(rootBeside, { recursive: true, mode: 0o755 });
  const journal = new Journal(rootBeside);
  for (const folder of missing) journal.own("folder", folder);
  for (const folder of missing) syncNow(join(beside, relative(top, folder)));
  renameSync(beside, top);
  syncNow(dirname(top));
}

/**
 * The way back, when all but the journal is gone: the root and those of its parents that we made and that hold nothing else disappear together.
 *
 * @param made the folders that the ledger names
 */
export function removeRoot(root: string, made: ReadonlySet<string>): void {
  let top: string | null = null;
  let [folder, only] = [root, "journal"];
  while (made.has(folder) && readdirSync(folder).every((name) => name === only)) {
    top = folder;
    [folder, only] = [dirname(folder), basename(folder)];
  }
  const [from, beside] =
    top === null ? [join(root, "journal"), join(root, HALF_JOURNAL)] : [top, `${top}${HALF}`];
  renameSync(from, beside);
  rmSync(beside, { recursive: true });
}

/** Removes what a `makeRoot` or `removeRoot` that was cut left. @returns whether there was something */
export function discardHalfMade(root: string): boolean {
  const top = missingFolders(root)[0];
  const beside = top === undefined ? join(root, HALF_JOURNAL) : `${top}${HALF}`;
  if (!existsSync(beside)) return false;
  rmSync(beside, { recursive: true });
  return true;
}

/** Outermost first. */
function missingFolders(folder: string): string[] {
  return existsSync(folder) ? [] : [...missingFolders(dirname(folder)), folder];
}
