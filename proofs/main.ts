/**
 * `npm run prove -- NAME [args]`: runs one proof of the five folders here, ends with one JSON line `{"proof","ok","figures"}` and keeps it in docs/proofs/.
 * `all [MINUTES]` runs as many as fit, each in a process of its own; `document` makes docs/proofs.md of what is kept.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PROOFS } from "./catalogue.ts";
import { isProof, type ProofResult } from "./proof.ts";
import { commitOf } from "./commit-of.ts";
import { planAll } from "./plan-all.ts";
import { RecordsFolder } from "./records-folder.ts";

const here = import.meta.dirname;
const repository = join(here, "..");
const records = new RecordsFolder(repository);
const [name, ...args] = process.argv.slice(2);

if (name === undefined || name === "--help") {
  process.stdout.write(help());
  process.exit(name === undefined ? 2 : 0);
} else if (name === "document") {
  records.writeDocument();
} else if (name === "all") {
  process.exitCode = await proveAll(Number(args[0] ?? 600));
} else if (Object.hasOwn(PROOFS, name)) {
  // What a proof leaves open must not keep its process alive.
  process.exit(await proveOne(name));
} else {
  process.stderr.write(
    `there is no proof named ${JSON.stringify(name)}; there are: ${Object.keys(PROOFS).join(", ")}\n`,
  );
  process.exitCode = 2;
}

function help(): string {
  const rows = Object.entries(PROOFS).map(
    ([each, { shows, minutes }]) =>
      `  ${each.padEnd(22)} ${String(minutes).padStart(4)} min  ${shows}`,
  );
  return `usage: npm run prove -- NAME [args]
       npm run prove -- all [MINUTES]   as many as fit into so many minutes (600 unless said), the oldest first
       npm run prove -- document        makes docs/proofs.md of what is kept in docs/proofs/

${rows.join("\n")}
`;
}

async function proveOne(proof: string): Promise<number> {
  const startedAt = Date.now();
  const progress = (line: string): void => {
    process.stderr.write(
      `[${proof} ${((Date.now() - startedAt) / 1000).toFixed(1).padStart(7)} s] ${line}\n`,
    );
  };
  let result: ProofResult;
  let isRun = true;
  try {
    const file = `${PROOFS[proof]?.folder}/${proof}.ts`;
    const module: unknown = await import(join(here, file));
    if (!isProof(module)) throw new Error(`proofs/${file} has no default function`);
    result = await module.default({ progress, args });
  } catch (error) {
    const errors = errorsOf(error);
    for (const each of errors) progress(each.stack ?? each.message);
    result = { ok: false, figures: { error: errors[0]?.message } };
    isRun = false;
  }
  const { ok, figures } = result;
  // A run that broke off has no figures: what an earlier one showed stays.
  if (isRun) {
    records.write({
      proof,
      ok,
      date: new Date().toISOString().slice(0, 10),
      commit: commitOf(repository),
      args,
      figures,
    });
    records.writeDocument();
  }
  process.stdout.write(`${JSON.stringify({ proof, ok, figures })}\n`);
  return ok ? 0 : 1;
}

async function proveAll(minutes: number): Promise<number> {
  if (!Number.isFinite(minutes) || minutes <= 0) {
    process.stderr.write(`MINUTES must be a number above 0, not ${JSON.stringify(args[0])}\n`);
    return 2;
  }
  const { run, left } = planAll(minutes, records.read());
  process.stderr.write(`${run.length} proofs fit into ${minutes} min: ${run.join(", ")}\n`);
  if (left.length > 0) process.stderr.write(`no room for ${left.length}: ${left.join(", ")}\n`);
  const missed: string[] = [];
  for (const each of run) if (!(await proveInTime(each))) missed.push(each);
  process.stdout.write(
    `${JSON.stringify({ proof: "all", ok: missed.length === 0, figures: { run: run.length, missed, left } })}\n`,
  );
  return missed.length === 0 ? 0 : 1;
}

/** Twice its usual time is a proof's own limit, so that one that hangs costs the others nothing. */
async function proveInTime(proof: string): Promise<boolean> {
  const child = spawn(process.execPath, [join(here, "main.ts"), proof], { stdio: "inherit" });
  const ended = new Promise<boolean>((resolve) => {
    child.once("close", (code) => {
      resolve(code === 0);
    });
  });
  const limit = new AbortController();
  const overdue = sleep((PROOFS[proof]?.minutes ?? 1) * 120_000, false, {
    signal: limit.signal,
  }).catch(() => false);
  const isOk = await Promise.race([ended, overdue]);
  limit.abort();
  if (child.exitCode === null && child.signalCode === null) {
    // Its clean-up runs on SIGTERM; what ignores that is killed.
    child.kill("SIGTERM");
    await Promise.race([ended, sleep(60_000)]);
    child.kill("SIGKILL");
  }
  return isOk;
}

/** What went wrong first, then what went wrong while that was cleaned up. */
function errorsOf(error: unknown): Error[] {
  if (error instanceof SuppressedError)
    return [...errorsOf(error.suppressed), ...errorsOf(error.error)];
  if (error instanceof AggregateError) return error.errors.flatMap(errorsOf);
  return [error instanceof Error ? error : new Error(String(error))];
}
