/** Reads {@link SourceTree} from the working tree. */
import { readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { readRooms } from "@resontech/house/read-rooms";
import { runChild } from "@resontech/house/run-child";
import { readExports } from "../../house/read-imports.ts";
import { ships } from "../ships.ts";
import { namedPaths, namedRooms } from "./named-paths.ts";
import { ANYTHING, mayNamePaths, type PathsOfSource, pathsOfSource } from "./path-values.ts";
import { runtimeImports } from "./runtime-imports.ts";
import type { Source, SourceTree } from "./source-tree.ts";

const READ = /\.(?:[cm]?[jt]s|tsx)$/;
const FOREIGN = /\.(?:py|go)$/;

/** Files that git knows, and those that it does not know yet. */
export async function listFiles(repository: string): Promise<string[]> {
  const listed = await runChild(
    "git",
    ["ls-files", "--cached", "--others", "--exclude-standard", "-z"],
    { cwd: repository, quiet: true },
  );
  return [...new Set(listed.split("\0"))].filter((file) => file !== "").sort();
}

/** @param gone files that were there once: who would see them is asked, too */
export async function readSourceTree(
  repository: string,
  gone: readonly string[] = [],
): Promise<SourceTree> {
  const files = [...new Set([...(await listFiles(repository)), ...gone])].sort();
  const rooms = new Set([...readRooms(repository), "parts", "dev"]);
  const folders = foldersOf(files);
  const isThere = new Set(files);
  const exportOf = exportsFinder(readExports(repository));
  const texts = new Map(
    files
      .filter((file) => READ.test(file) || FOREIGN.test(file))
      .map((file) => [file, readText(join(repository, file))]),
  );
  const resolverOf =
    (file: string) =>
    (specifier: string): string | null => {
      const to = specifier.startsWith(".")
        ? posix.join(dirname(file), specifier)
        : exportOf(specifier);
      return to !== null && isThere.has(to) ? to : null;
    };
  const sources = new Map<string, Source>();
  for (const [file, text] of texts) {
    const isForeign = FOREIGN.test(file);
    const { specifiers, hasUnnamed } = isForeign
      ? { specifiers: [], hasUnnamed: false }
      : runtimeImports(text);
    const resolve = resolverOf(file);
    sources.set(file, {
      imports: specifiers.flatMap((specifier) => resolve(specifier) ?? []),
      paths: [],
      named: namedPaths(file, text).filter(
        (path) => isThere.has(path) || (folders.has(path) && !rooms.has(path)),
      ),
      rooms: namedRooms(file, text, [...rooms, "docs", "examples"]),
      declares: file.endsWith("/part.ts") ? declaredPrograms(text) : [],
      hasUnnamed,
      asksGit: text.includes('"git"'),
      usesBundle: text.includes("RT_TEST_BUNDLE"),
      isForeign,
    });
  }
  readPaths(sources, texts, resolverOf);
  return { files: isThere, folders, sources, rooms };
}

/** What a room exports by that name, one file or a pattern of files. */
function exportsFinder(exported: ReadonlyMap<string, string>): (name: string) => string | null {
  const patterns = [...exported].flatMap(([name, file]) => {
    const [before = "", after] = name.split("*");
    return after === undefined ? [] : [{ before, after, file }];
  });
  return (name) => {
    const pattern = patterns.find(
      ({ before, after }) => name.startsWith(before) && name.endsWith(after),
    );
    const middle = name.slice(pattern?.before.length, name.length - (pattern?.after.length ?? 0));
    return exported.get(name) ?? pattern?.file.replace("*", middle) ?? null;
  };
}

/** Paths of each source, and of those that take such a path from another one. */
function readPaths(
  sources: Map<string, Source>,
  texts: ReadonlyMap<string, string>,
  resolverOf: (file: string) => (specifier: string) => string | null,
): void {
  const read = new Map<string, PathsOfSource>();
  const importers = new Map<string, string[]>();
  for (const [file, { imports }] of sources)
    for (const imported of imports) {
      const known = importers.get(imported);
      if (known === undefined) importers.set(imported, [file]);
      else known.push(file);
    }
  const waiting = new Set(
    [...texts]
      .filter(([file, text]) => READ.test(file) && mayNamePaths(text))
      .map(([file]) => file),
  );
  for (const file of waiting) {
    waiting.delete(file);
    const text = texts.get(file)!;
    const resolve = resolverOf(file);
    const { imported, exported } = takenPaths(text, resolve, read);
    const isCompiled = file.includes("/src/") && ships(file);
    const own = pathsOfSource({ file, text, resolve, isCompiled, imported });
    const found = { ...own, exported: new Map([...exported, ...own.exported]) };
    const isNew = found.exported.size > (read.get(file)?.exported.size ?? 0);
    read.set(file, found);
    sources.set(file, { ...sources.get(file)!, paths: found.paths });
    if (isNew) for (const importer of importers.get(file) ?? []) waiting.add(importer);
  }
}

/** `import { a, b as c } from "x"`, `export { a } from "x"`; `import * as a from "x"`, `export * from "x"`. */
const TAKEN =
  /^(import|export)\s*(?:\w+\s*,\s*)?(?:\{([^}]*)\}|\*(?:\s*as\s+(\w+))?)\s*from\s*"([^"]+)"/gm;

/** Names that a source takes from others, and those that it hands on → the paths that they stand for. */
function takenPaths(
  text: string,
  resolve: (specifier: string) => string | null,
  read: ReadonlyMap<string, PathsOfSource>,
): { imported: PathsOfSource["exported"]; exported: PathsOfSource["exported"] } {
  const taken = { imported: new Map(), exported: new Map() } satisfies Record<
    string,
    Map<string, PathsOfSource["paths"]>
  >;
  for (const [, word, names, whole, specifier = ""] of text.matchAll(TAKEN)) {
    const from = read.get(resolve(specifier) ?? "")?.exported ?? new Map<string, never>();
    const into = word === "import" ? taken.imported : taken.exported;
    if (whole !== undefined && from.size > 0) into.set(whole, [ANYTHING]);
    else if (names === undefined) for (const [name, value] of from) into.set(name, value);
    for (const each of names?.split(",") ?? []) {
      const [name = "", local = name] = each.trim().split(/\s+as\s+/);
      const value = from.get(name);
      if (value !== undefined) into.set(local, value);
    }
  }
  return taken;
}

function declaredPrograms(text: string): string[] {
  return [...text.matchAll(/\bprogram: "([a-z0-9-]+)\.mjs"/g)].map(([, name = ""]) => name);
}

function foldersOf(files: readonly string[]): Map<string, string[]> {
  const folders = new Map<string, string[]>();
  for (const file of files)
    for (let folder = dirname(file); folder !== "."; folder = dirname(folder)) {
      const known = folders.get(folder);
      if (known === undefined) folders.set(folder, [file]);
      else known.push(file);
    }
  return folders;
}

/** One that was deleted, and is still known to git, says nothing. */
function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
