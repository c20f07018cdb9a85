/** Reads which file of this tree imports which, without a compiler: imports of packages of others are left out. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { readRooms } from "@resontech/house/read-rooms";
import type { Import } from "./house-figures.ts";

/** `import … from "x"`, `export … from "x"`, `import "x"`, `import("x")`, `import.meta.resolve("x")`; a specifier has no blank. */
const NAMED = /(?:\bfrom\s*|\bimport(?:\.meta\.resolve)?\s*\(?\s*)"([^"\s]+)"/g;
/** What is commented out imports nothing. A string may hold `//`, but no line begins within one. */
const COMMENTED = /^\s*(?:\/\/|\*|\/\*).*$/gm;

/** @param files their paths in the tree at `repository`; others than sources are passed over */
export function readImports(repository: string, files: readonly string[]): Import[] {
  const exported = readExports(repository);
  return files
    .filter((file) => /\.m?[jt]sx?$/.test(file))
    .flatMap((from) => {
      const text = readFileSync(join(repository, from), "utf8").replaceAll(COMMENTED, "");
      return [...text.matchAll(NAMED)].flatMap(([, named = ""]) => {
        const to = named.startsWith(".")
          ? posix.join(dirname(from), named)
          : (exported.get(named) ?? null);
        return to === null || !existsSync(join(repository, to)) ? [] : [{ from, to, named }];
      });
    });
}

/** What other rooms may name → the file that it stands for, by the `exports` of every room. */
export function readExports(repository: string): Map<string, string> {
  return new Map(
    readRooms(repository).flatMap((room) => {
      const { name, exports = {} } = JSON.parse(
        readFileSync(join(repository, room, "package.json"), "utf8"),
      ) as { name: string; exports?: Record<string, string> };
      return Object.entries(exports).map(([path, file]): [string, string] => [
        posix.join(name, path),
        posix.join(room, file),
      ]);
    }),
  );
}
