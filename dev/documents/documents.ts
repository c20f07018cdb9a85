import { globSync } from "node:fs";
import { sep } from "node:path";

/** Every Markdown file of this tree that a person reads, by its path, in a fixed order. */
export function documentsOf(repository: string): string[] {
  return globSync(["*.md", "*/**/*.md"], {
    cwd: repository,
    exclude: ["**/node_modules/**", ".*/**"],
  })
    .map((file) => file.replaceAll(sep, "/"))
    .sort();
}
