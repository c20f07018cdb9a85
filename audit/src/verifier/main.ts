/** The offline verifier: one file, no dependencies, Node 20 or later. */
import { createReadStream } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { MAX_NOTE_BYTES } from "./note.ts";
import { escapeText, HELP, renderText } from "./output.ts";
import { EXIT_REFUSED, exitCode, VERDICTS, type VerdictName } from "./verdicts.ts";
import { verify } from "./verify.ts";

const READ_BYTES = 1_048_576;

class UsageError extends Error {}

async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { policy: { type: "string" }, require: { type: "string" }, json: { type: "boolean" }, help: { type: "boolean" } },
  });
  if (values.help === true) {
    process.stdout.write(HELP);
    return 0;
  }
  const [file, ...rest] = positionals;
  if (file === undefined || rest.length > 0) throw new UsageError("exactly one EXPORT is needed; see --help");
  const required = (values.require ?? "")
    .split(",")
    .filter((name) => name !== "")
    .map(verdictName);
  const policy = values.policy === undefined ? null : await readPolicy(values.policy);
  const bundle: AsyncIterable<Buffer> = file === "-" ? process.stdin : createReadStream(file, { highWaterMark: READ_BYTES });
  const report = await verify({ bundle, policy, ...(process.stderr.isTTY ? { onProgress: showProgress } : {}) });
  const code = exitCode(report.verdicts, report.refused !== null, required);
  process.stdout.write(values.json === true ? `${JSON.stringify({ ...report, exitCode: code })}\n` : renderText(report));
  return code;
}

function verdictName(name: string): VerdictName {
  const found = VERDICTS.find((verdict) => verdict === name.toUpperCase());
  if (found === undefined) throw new UsageError(`--require knows ${VERDICTS.join(", ")}, not ${name}`);
  return found;
}

/** No more of the file than could be a policy. */
async function readPolicy(path: string): Promise<Buffer> {
  const handle = await open(path);
  try {
    const { size } = await handle.stat();
    if (size > MAX_NOTE_BYTES) throw new UsageError(`${path} is too long for a policy`);
  } finally {
    await handle.close();
  }
  return readFile(path);
}

function showProgress(entries: number, size: number): void {
  process.stderr.write(`\r${entries} of ${size} entries${entries === size ? "\n" : ""}`);
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`verify: ${escapeText(error instanceof Error ? error.message : String(error))}\n`);
    process.exitCode = EXIT_REFUSED;
  },
);
