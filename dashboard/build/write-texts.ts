/** Writes the list of all texts of the pages: `node dashboard/build/write-texts.ts` after a change of one. A test compares it. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { textsOf } from "./texts-of.ts";

const SOURCES = join(import.meta.dirname, "..", "src");
export const TEXTS_FILE = join(import.meta.dirname, "..", "texts.txt");

/** Files of the pages with their texts below each, in order of their names. */
export function allTexts(): string {
  const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
    // Pictures have no words.
    .filter((file) => /\.tsx?$/.test(file) && !file.startsWith("ui/icon/"))
    .toSorted();
  return files
    .map((file) => ({ file, texts: textsOf(file, readFileSync(join(SOURCES, file), "utf8")) }))
    .filter(({ texts }) => texts.length > 0)
    .map(
      ({ file, texts }) => `${[`src/${file}`, ...texts.map((text) => `  ${text}`)].join("\n")}\n`,
    )
    .join("\n");
}

if (import.meta.main) writeFileSync(TEXTS_FILE, allTexts());
