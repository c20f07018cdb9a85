/** `node dev/sentence-lengths.ts [--json] [FILE…]`: sentences of each document, their mean and longest length in words, and how many are too long. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { documentsOf } from "./documents/documents.ts";
import { lengthsOf, MAX_WORDS, sentencesOf } from "./documents/sentences.ts";

const repository = join(import.meta.dirname, "..");
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: "boolean" } },
});
const documents = positionals.length > 0 ? positionals : documentsOf(repository);
const rows = documents.map((document) => ({
  document,
  ...lengthsOf(sentencesOf(readFileSync(join(repository, document), "utf8"))),
}));

if (values.json === true) process.stdout.write(`${JSON.stringify(rows)}\n`);
else {
  process.stdout.write(`${"document".padEnd(50)} sentences   mean  longest  above ${MAX_WORDS}\n`);
  for (const { document, sentences, mean, longest, above25 } of rows)
    process.stdout.write(
      `${document.padEnd(50)} ${String(sentences).padStart(9)} ${mean.toFixed(1).padStart(6)} ${String(longest).padStart(8)} ${String(above25).padStart(9)}\n`,
    );
}
