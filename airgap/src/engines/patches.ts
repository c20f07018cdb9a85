import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

const RECIPES = join(import.meta.dirname, "..", "..", "recipes");

/** What we change in the published source of a program: files that `git apply` takes, by their numbers. */
export function patchesOf(binary: string): string[] {
  const folder = join(RECIPES, binary);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith(".patch"))
    .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
    .map((name) => join(folder, name));
}
