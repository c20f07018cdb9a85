import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type FileCost, readFileCosts } from "./file-costs.ts";
import { summarizeTap, type TapSummary } from "./tap-summary.ts";
import type { Tier } from "./tier.ts";

export type TierOutcome = TapSummary & {
  /** How tap ended; a run that it calls bad although no assertion failed (killed, say) is a failure, too. */
  status: number;
  /** Raw TAP. */
  rawFile: string;
  costs: readonly FileCost[];
};

export type TierOptions = {
  repository: string;
  /** The folder of raw results. */
  results: string;
  env: NodeJS.ProcessEnv;
  /** A second try: one file at a time. @default false */
  isAgain?: boolean;
};

/** Two cores are busy with so many: more at a time make nothing shorter, and what waits for a part of ours too long. */
const JOBS: Readonly<Record<Tier, number>> = { unit: 3, engines: 3, browser: 2, acceptance: 2 };

export async function runTier(
  tier: Tier,
  files: readonly string[],
  { repository, results, env, isAgain = false }: TierOptions,
): Promise<TierOutcome> {
  const name = isAgain ? `${tier}-again` : tier;
  const rawFile = join(results, `${name}.tap`);
  const cpuFile = join(results, `${name}.cpu`);
  for (const file of [rawFile, cpuFile]) rmSync(file, { force: true });
  const preloads = ["note-cpu.mjs", ...(tier === "unit" ? ["no-processes.mjs"] : [])];
  const imports = preloads.map(
    (name) => `--node-arg=--import=${pathToFileURL(join(import.meta.dirname, name)).href}`,
  );
  const args = [
    "run",
    "--reporter=terse",
    `--jobs=${isAgain ? 1 : JOBS[tier]}`,
    `--output-file=${rawFile}`,
    ...imports,
    ...files,
  ];
  const child = spawn(join(repository, "node_modules/.bin/tap"), args, {
    cwd: repository,
    stdio: "inherit",
    env: { ...env, RT_TEST_CPU_FILE: cpuFile },
  });
  const status = await new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
  const noted = existsSync(cpuFile) ? readFileSync(cpuFile, "utf8") : "";
  const costs = readFileCosts(noted, repository);
  return { ...summarizeTap(readFileSync(rawFile, "utf8")), status, rawFile, costs };
}
