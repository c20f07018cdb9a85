import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { summarizeTap, type TapSummary } from "./tap-summary.ts";
import type { Tier } from "./tier.ts";

export type TierOutcome = TapSummary & {
  /** How tap ended; a run that it calls bad although no assertion failed (killed, say) is a failure, too. */
  status: number;
  /** Raw TAP. */
  rawFile: string;
};

/** Unit tests keep a core busy each; engines wait for one another most of the time. */
const JOBS: Readonly<Record<Tier, number>> = { unit: 3, engines: 4, browser: 1, acceptance: 2 };

export async function runTier(
  tier: Tier,
  files: readonly string[],
  { repository, results, env }: { repository: string; results: string; env: NodeJS.ProcessEnv },
): Promise<TierOutcome> {
  const rawFile = join(results, `${tier}.tap`);
  rmSync(rawFile, { force: true });
  const guard = tier === "unit" ? [`--node-arg=--import=${join(import.meta.dirname, "no-processes.mjs")}`] : [];
  const args = ["run", "--reporter=terse", `--jobs=${JOBS[tier]}`, `--output-file=${rawFile}`, ...guard, ...files];
  const child = spawn(join(repository, "node_modules/.bin/tap"), args, { cwd: repository, stdio: "inherit", env });
  const status = await new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
  return { ...summarizeTap(readFileSync(rawFile, "utf8")), status, rawFile };
}
