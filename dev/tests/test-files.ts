import { globSync } from "node:fs";
import { sep } from "node:path";

/** Every test file of every room, by its path in this tree, in a fixed order. */
export function testFiles(repository: string): string[] {
  return globSync(["*/test/**/*.test.ts", "parts/*/test/**/*.test.ts"], {
    cwd: repository,
    exclude: ["node_modules/**"],
  })
    .map((file) => file.replaceAll(sep, "/"))
    .sort();
}
