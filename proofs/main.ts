/** `npm run prove -- NAME [args]`: runs one proof of this folder and ends with one JSON line `{"proof","ok","figures"}`. */
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isProof, type ProofResult } from "./proof.ts";

const here = dirname(fileURLToPath(import.meta.url));
const names = readdirSync(here)
  .filter((file) => file.endsWith(".ts") && file !== "main.ts" && file !== "proof.ts")
  .map((file) => file.slice(0, -3))
  .sort();

const [name, ...args] = process.argv.slice(2);
if (name === undefined || name === "--help") {
  process.stdout.write(
    `usage: npm run prove -- NAME\n\nProofs (what each shows, its command and last figures: docs/proofs.md):\n  ${names.join("\n  ")}\n`,
  );
  process.exit(name === undefined ? 2 : 0);
}
if (!names.includes(name)) {
  process.stderr.write(`there is no proof named ${JSON.stringify(name)}; there are: ${names.join(", ")}\n`);
  process.exit(2);
}

const startedAt = Date.now();
const progress = (line: string): void => {
  process.stderr.write(`[${name} ${((Date.now() - startedAt) / 1000).toFixed(1).padStart(7)} s] ${line}\n`);
};
let result: ProofResult;
try {
  const module: unknown = await import(join(here, `${name}.ts`));
  if (!isProof(module)) throw new Error(`proofs/${name}.ts has no default function`);
  result = await module.default({ progress, args });
} catch (error) {
  const errors = errorsOf(error);
  for (const each of errors) progress(each.stack ?? each.message);
  result = { ok: false, figures: { error: errors[0]?.message } };
}
process.stdout.write(`${JSON.stringify({ proof: name, ok: result.ok, figures: result.figures })}\n`);
process.exit(result.ok ? 0 : 1);

/** What went wrong first, then what went wrong while that was cleaned up. */
function errorsOf(error: unknown): Error[] {
  if (error instanceof SuppressedError) return [...errorsOf(error.suppressed), ...errorsOf(error.error)];
  return [error instanceof Error ? error : new Error(String(error))];
}
